/** The row of `carrel doctor` about the port for MCP clients. */
import type { ProbeRow } from '../../../kernel/engine/engine.ts';
import type { Fault } from '../../../model/fault.ts';
import { defaultHttp, type HttpSettings } from './config.ts';

export interface PortRowParts {
  /** The settings that config.yaml has now; they may take effect only at the next start. */
  asked(): HttpSettings | null;
  /** Why a port with these settings cannot be opened; null: it can. */
  refusal(http: HttpSettings): Promise<Fault | null>;
}

const name = 'mcp-port';

/** `mcp`: the address at which the daemon listens. */
export async function portRow(mcp: string | null, { asked, refusal }: PortRowParts): Promise<ProbeRow> {
  const http = asked();
  const isOpen = mcp !== null && (http === null || Number(new URL(mcp).port) === http.port || http.port === 0);
  if (isOpen) return { name, level: 'ok', detail: `listening at ${mcp}`, hint: null };
  const fault = await refusal(http ?? defaultHttp);
  const now = mcp === null ? 'off' : `listening at ${mcp}`;
  if (fault !== null) return { name, level: 'warning', detail: `${now}; ${fault.message}`, hint: fault.hint ?? null };
  const next = http === null ? `carrel up --port ${defaultHttp.port} opens it` : `from the next start at ${http.port}`;
  return { name, level: 'ok', detail: `${now}; ${next}`, hint: null };
}
