import { emitKeypressEvents } from 'node:readline';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect, connectRunning } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { catchSignals } from '../../../client/signals.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import type { SessionView } from '../api.ts';
import { ChatHistory } from './chat-history.ts';
import { Chat, type ChatCalls } from './chat-loop.ts';
import { ChatScreen } from './chat-screen.ts';
import { EventPrinter } from './event-printer.ts';
import { chatTarget, placeOf, type SessionChoice } from './find-session.ts';
import { followSession } from './follow-session.ts';
import { InputLine, type TypedKey } from './input-line.ts';
import { promptOnStdin } from './prompt-text.ts';
import { questionHint } from './question-text.ts';
import { SessionCalls } from './session-calls.ts';
import { faultOf, untilEnd } from './turn-end.ts';

const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

export async function chat(context: Context, { args, options }: Invocation<SessionChoice>): Promise<void> {
  const { out, json } = context;
  if (json)
    throw new Fault('unsupported', 'carrel chat has no --json', { hint: 'Use carrel session send --wait --json' });
  const client = connect(context);
  const calls = new SessionCalls(client);
  const finding = chatTarget(client, calls, args[0] ?? '.', options);
  const { session, project } = await during(out, 'looking for the session', finding);
  if (session.state === 'closed') throw closed(session);
  if (process.stdin.isTTY && process.stdout.isTTY) return converse(context, calls, session, project);
  return chatPiped(context, calls, session);
}

async function converse(context: Context, calls: SessionCalls, session: SessionView, project: string): Promise<void> {
  const { out } = context;
  const abort = new AbortController();
  const history = new ChatHistory(context.home, project);
  const screen = new ChatScreen(process.stdout);
  const chat = new Chat({
    ...{ screen, painter: out, seq: session.seq, input: new InputLine(history.read()) },
    talk: talkOf(calls, session),
    leave: () => abort.abort(),
    sent: (text) => history.add(text),
  });
  const giveBack = takeTerminal(chat, screen, () => abort.abort());
  chat.note(`${session.sandbox}, ${session.agent}: Enter sends, Ctrl-C cancels, Ctrl-D leaves`);
  try {
    await read(context, session, chat, abort.signal);
    await chat.settle();
  } finally {
    screen.close();
    giveBack();
  }
  const goes = chat.turns.length > 0 ? 'the agent goes on; ' : '';
  out.note(`${goes}come back with: carrel chat ${session.sandbox}`);
}

/** Reading does not start a daemon that was stopped on purpose; only a request of the user does. */
async function read(context: Context, session: SessionView, chat: Chat, signal: AbortSignal): Promise<void> {
  const calls = new SessionCalls(connectRunning(context));
  const away = () => chat.note('the daemon does not answer; the chat goes on when it does');
  try {
    for await (const event of followSession(calls, placeOf(session), 0, signal, away)) {
      chat.take(event);
      if (event.type === 'session.closed' && event.seq > session.seq) return;
    }
  } catch (error) {
    throw asFault(error);
  }
}

function talkOf(calls: SessionCalls, session: SessionView): ChatCalls {
  const place = placeOf(session);
  return {
    prompt: (text) => calls.prompt(place, text, true),
    answer: (pendingId, body) => calls.answer(place, pendingId, body),
    cancel: () => calls.cancel(place),
    changes: () => calls.changes(place),
  };
}

/**
 * Sends keys and sizes to the chat until the returned function is called. The exit of the process restores the terminal
 * too.
 */
function takeTerminal(chat: Chat, screen: ChatScreen, end: () => void): () => void {
  const { stdin, stdout } = process;
  const press = (_text: string | undefined, key: TypedKey) => chat.press(key);
  const resize = () => {
    screen.resized();
    chat.show();
  };
  const restore = () => {
    stdout.write(pasteOff);
    stdin.setRawMode(false);
  };
  const releaseSignals = catchSignals(end);
  stdin.setRawMode(true);
  stdout.write(pasteOn);
  emitKeypressEvents(stdin);
  stdin.on('keypress', press).on('end', end).resume();
  stdout.on('resize', resize);
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    stdin.off('keypress', press).off('end', end).pause();
    stdout.off('resize', resize);
    restore();
    releaseSignals();
  };
}

/** `echo TEXT | carrel chat`: sends one prompt and prints the turn as lines. */
async function chatPiped({ out }: Context, calls: SessionCalls, session: SessionView): Promise<void> {
  const text = await promptOnStdin();
  if (text.trim() === '') {
    throw new Fault('invalid', 'stdin has no prompt', { hint: `echo "list files" | carrel chat ${session.sandbox}` });
  }
  const place = placeOf(session);
  const { turnId, seq } = await calls.prompt(place, text, true);
  const abort = new AbortController();
  const printer = new EventPrinter(out);
  const end = await untilEnd(followSession(calls, place, seq, abort.signal), turnId, (event) => {
    if (event.type === 'question') out.say(questionHint(session, event.data));
    if (event.type !== 'turn.ended' || event.data.stopReason === 'end_turn') out.stdout.write(printer.take(event));
  });
  abort.abort();
  const changes = await calls.changes(place);
  if (changes !== null) out.say(changes);
  const fault = faultOf(end);
  if (fault) throw fault;
}

function closed({ sandbox, sessionId }: SessionView): Fault {
  return new Fault('conflict', `the session ${sessionId} is closed`, {
    hint: `Go on in a copy: carrel session fork ${sandbox} --session ${sessionId}`,
  });
}
