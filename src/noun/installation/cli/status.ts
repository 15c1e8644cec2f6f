import type { Context } from '../../../client/cli.ts';
import { connectRunning } from '../../../client/connect/connect.ts';
import { olderText } from '../../../client/connect/older-daemon.ts';
import { duration } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { isFault } from '../../../model/fault.ts';
import type { AnswerOf } from '../../routes.ts';

export async function status(context: Context): Promise<void> {
  const found = await ask(context);
  if (context.json) return context.out.document(found ? { running: true, ...found } : { running: false });
  if (!found) {
    context.out.print('not running');
    const shared = 'The account that shares it has to start it; for a daemon of your own, unset CARREL_SOCKET.';
    const own = 'It starts by itself when a command needs it, or with: carrel up -d';
    return context.out.note(context.socket === null ? own : shared);
  }
  const held = Object.entries(found.sandboxes).map(([state, count]) => `${count} ${plain(state)}`);
  context.out.print(
    ...table([
      ['daemon', `running for ${duration(found.uptimeSeconds)}, pid ${found.pid}`],
      ['version', plain(found.version)],
      ['home', plain(found.home)],
      ['rootless', found.rootless ? 'yes' : 'no'],
      ['sandboxes', held.join(', ') || 'none'],
      ...(found.mcp === null ? [] : [['mcp', plain(found.mcp)]]),
      ['last event', String(found.lastSeq)],
      ...settingsRows(found.settings),
      ...olderRows(context),
    ]),
  );
}

/** The settings of config.yaml that are not in use. */
function settingsRows({ refused, waiting }: AnswerOf<'GET /v1/status'>['settings']): string[][] {
  return [
    ...(refused === null ? [] : [['settings', `those read before are used: ${plain(refused)}`]]),
    ...(waiting.length === 0 ? [] : [['settings', `${waiting.join(', ')}: used from the next start, carrel down`]]),
  ];
}

function olderRows({ socket, home }: Context): string[][] {
  const older = socket === null ? olderText(home) : null;
  return older === null ? [] : [['restart', `${older}; carrel down`]];
}

async function ask(context: Context) {
  try {
    return await connectRunning(context).call('GET /v1/status');
  } catch (error) {
    if (isFault(error, 'unavailable')) return null;
    throw error;
  }
}
