/** The row of `carrel doctor` about the port for MCP clients. */
import type { ProbeRow } from '../../../kernel/engine/engine.ts';
import type { InstallationPort } from '../installation.ts';
import { defaultHttp } from './config.ts';

const name = 'mcp-port';

/** `mcp`: the address at which the daemon listens. */
export async function portRow(mcp: string | null, { settings, refusal }: InstallationPort): Promise<ProbeRow> {
  const http = settings();
  const isOpen = mcp !== null && (http === null || Number(new URL(mcp).port) === http.port || http.port === 0);
  if (isOpen) return { name, level: 'ok', detail: `listening at ${mcp}`, hint: null };
  const fault = await refusal(http ?? defaultHttp);
  const now = mcp === null ? 'off' : `listening at ${mcp}`;
  if (fault !== null) return { name, level: 'warning', detail: `${now}; ${fault.message}`, hint: fault.hint ?? null };
  const next = http === null ? `carrel up --port ${defaultHttp.port} opens it` : `from the next start at ${http.port}`;
  return { name, level: 'ok', detail: `${now}; ${next}`, hint: null };
}
