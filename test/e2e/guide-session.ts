/** Chats and questions of sessions. */
import { until } from '../harness/installation.ts';
import type { Guide, Way } from './guide.ts';

/** Sends the text to the demo agent and waits until the agent asks a question. */
export function asked(text: string) {
  return async (guide: Guide): Promise<void> => {
    await guide.ok(`carrel session send web --new --agent demo ${text}`);
    await until(async () => /waiting/.test(await guide.ok('carrel session show web')), 'the question');
  };
}

export function askAndLeave(text: string, answer: RegExp): Way {
  return {
    types: [
      [/Enter sends/, `${text}\r`],
      [answer, '\x04'],
    ],
  };
}
