/** The current screen of a running command, for a client that attaches now. */
import type { Client } from '../../../../client/client.ts';
import { deliver } from '../../../../client/stream/receive.ts';
import type { TerminalSize } from '../../../../model/engine.ts';
import { Screen } from './screen/screen.ts';

/** Draws the output so far on a screen of this size. A program that had another size redraws by itself. */
export async function earlierScreen(client: Client, name: string, { rows, columns }: TerminalSize): Promise<Screen> {
  const screen = new Screen(rows, columns);
  const take = (chunk: Buffer) => screen.push(chunk);
  const query = { lastStart: true };
  const frames = client.frames('GET /v1/sandboxes/{name}/logs', { path: { name }, query });
  await deliver(frames, { stdout: take, stderr: take });
  return screen;
}
