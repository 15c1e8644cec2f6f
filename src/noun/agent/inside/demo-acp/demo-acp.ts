/**
 * An agent that speaks the Agent Client Protocol and has no model: it does what the prompt says, in the few words that
 * `help` lists. It needs no key and no network. Its edits and commands are real.
 *
 * It keeps each session in a file of the home, so that another process can load, resume or fork it. A session has one
 * turn at a time: another prompt is refused until the turn has ended. When its stdin ends, it exits.
 */
import { Conversations } from './conversation.ts';
import { take } from './order.ts';
import { DemoPeer } from './peer.ts';

const conversations = new Conversations();
const peer = new DemoPeer(process.stdin, process.stdout, {
  initialize: ({ clientCapabilities }) => {
    conversations.canElicit = Boolean((clientCapabilities as { elicitation?: { form?: object } })?.elicitation?.form);
    return {
      protocolVersion: 1,
      agentInfo: { name: 'demo-acp', title: 'Demo agent', version: '1' },
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, fork: {}, close: {} } },
      authMethods: [],
    };
  },
  'session/new': ({ cwd }) => conversations.create(String(cwd)).settings,
  'session/load': async ({ sessionId, cwd }) => {
    const conversation = conversations.load(String(sessionId), String(cwd));
    for (const { role, text } of conversation.messages) {
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      await peer.update(conversation.id, { sessionUpdate, content: { type: 'text', text } });
    }
    return conversation.settings;
  },
  'session/resume': ({ sessionId, cwd }) => conversations.load(String(sessionId), String(cwd)).settings,
  'session/fork': ({ sessionId, cwd }) => conversations.fork(String(sessionId), String(cwd)).settings,
  'session/close': ({ sessionId }) => conversations.find(String(sessionId)).cancel(),
  'session/set_mode': async ({ sessionId, modeId }) => {
    const conversation = conversations.find(String(sessionId));
    conversation.setMode(String(modeId));
    await peer.update(conversation.id, { sessionUpdate: 'current_mode_update', currentModeId: modeId });
  },
  'session/set_config_option': ({ sessionId, value }) => {
    const conversation = conversations.find(String(sessionId));
    conversation.setModel(String(value));
    return { configOptions: conversation.settings.configOptions };
  },
  'session/cancel': ({ sessionId }) => conversations.find(String(sessionId)).cancel(),
  'session/prompt': ({ sessionId, prompt }) => take(peer, conversations.find(String(sessionId)), textOf(prompt)),
});

function textOf(prompt: unknown): string {
  const blocks = prompt as readonly { readonly type: string; readonly text?: string; readonly uri?: string }[];
  return blocks.map(({ type, text, uri }) => text ?? uri ?? `[${type}]`).join('\n');
}
