/** Prints connections as sandboxes try to make them. At a terminal a key allows the last refused host. */

import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { plain } from '../../../client/output/text.ts';
import { canAsk } from '../../../client/stream/confirm.ts';
import { asFault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { attemptLine, type NetworkLogLine } from './log.ts';

interface Refused {
  readonly name: string;
  readonly endpoint: string;
}

const interrupt = '\u0003';

export async function netFollow(context: Context, { args }: Invocation): Promise<void> {
  const { out, json } = context;
  const client = connect(context);
  const names = args.length === 0 ? await running(client) : [checkSandboxName(args[0]!)];
  if (names.length === 0) return out.say('no sandbox is running');
  const keys = json || !canAsk(out) ? null : new Keys(client, out);
  if (keys) out.note('a allows the last host that was refused, q quits');
  const leaving = keys?.left;
  const all = Promise.all(names.map((name) => followOne(context, client, name, keys)));
  try {
    await (leaving ? Promise.race([all, leaving]) : all);
  } finally {
    keys?.release();
  }
  if (keys) process.exit(0);
}

async function running(client: Client): Promise<string[]> {
  return (await client.call('GET /v1/sandboxes')).filter(({ state }) => state === 'running').map(({ name }) => name);
}

async function followOne({ out, json }: Context, client: Client, name: string, keys: Keys | null): Promise<void> {
  const request = { path: { name }, query: { follow: true, tail: 0 } };
  for await (const line of client.sent<NetworkLogLine>('GET /v1/sandboxes/{name}/network/log', request)) {
    if (json) out.document({ sandbox: name, ...line }, 0);
    else if (line.decision !== undefined) out.print(`${plain(name)}  ${attemptLine(line, out)}`);
    if (isForRules(line)) keys?.offer({ name, endpoint: line.asked! });
  }
}

function isForRules({ refusal, asked }: NetworkLogLine): boolean {
  return asked !== undefined && (refusal === 'not_allowed' || refusal === 'port_not_allowed');
}

/** Handles single keys of the terminal, without Enter, until `release` is called. */
class Keys {
  readonly #client: Client;
  readonly #out: Output;
  readonly #restore = () => process.stdin.setRawMode(false);
  readonly #press = (chunk: Buffer) => this.#pressed(chunk.toString('latin1'));
  /** Resolves when the user quits. */
  readonly left: Promise<void>;
  #leave: () => void = () => {};
  #last: Refused | null = null;

  constructor(client: Client, out: Output) {
    this.#client = client;
    this.#out = out;
    this.left = new Promise((settle) => {
      this.#leave = settle;
    });
    process.stdin.setRawMode(true);
    process.once('exit', this.#restore);
    process.stdin.on('data', this.#press);
  }

  offer(refused: Refused): void {
    this.#last = refused;
  }

  release(): void {
    process.stdin.off('data', this.#press).pause();
    process.off('exit', this.#restore);
    this.#restore();
  }

  #pressed(keys: string): void {
    if (keys.includes('q') || keys.includes(interrupt)) this.#leave();
    else if (keys.includes('a')) void this.#allow();
  }

  async #allow(): Promise<void> {
    const last = this.#last;
    this.#last = null;
    if (last === null) return this.#out.say('nothing was refused that a rule could allow');
    try {
      const { name, endpoint } = last;
      await this.#client.call('POST /v1/sandboxes/{name}/network', { path: { name }, body: { allow: [endpoint] } });
      this.#out.say(`allowed ${plain(endpoint)} for ${plain(name)}`);
    } catch (error) {
      this.#out.warn(asFault(error).message);
    }
  }
}
