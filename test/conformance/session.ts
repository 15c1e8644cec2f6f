/**
 * What port 3002 promises to every client (`docs/formats/session.md`), for any implementation of `AgentSessions`. The agent of a
 * harness does what a prompt says; `words` are the prompts that it understands.
 */
import { describe, expect, it } from 'vitest';
import { eventView, messageView, questionView, sessionView } from '../../src/noun/session/api.ts';
import type { SessionClient } from '../fixtures/session-client.ts';

export interface SessionHarness {
  readonly client: SessionClient;
  readonly words: {
    /** Answers with this text. */
    say(text: string): string;
    /** Asks for a permission with the options `yes` and `no`, then says which it got. */
    readonly ask: string;
    /** Works until it is cancelled. */
    readonly wait: string;
  };
}

const lastOf = (type: string) => (sent: { readonly data: string }) => JSON.parse(sent.data).type === type;
const missing = '01JD8Q4Z7W3V5T1N9R2B6C8D0E';

export function sessionSuite(harness: () => SessionHarness): void {
  const client = () => harness().client;

  async function created(body: object = {}): Promise<string> {
    const { status, body: session } = await client().post('/sessions', body);
    expect(status).toBe(200);
    return session.sessionId;
  }

  /** All events up to the end of the turn. */
  async function turnOf(id: string, text: string) {
    const { status, body } = await client().post(`/sessions/${id}/prompt`, { text });
    expect(status).toBe(202);
    const isEnd = (sent: { data: string }) =>
      lastOf('turn.ended')(sent) && JSON.parse(sent.data).turnId === body.turnId;
    const events = await client().first(`/sessions/${id}/events`, isEnd);
    return { ...(body as { turnId: string; seq: number }), events: events.map(({ data }) => JSON.parse(data)) };
  }

  async function pendingOf(id: string): Promise<string> {
    await client().first(`/sessions/${id}/events`, lastOf('question'));
    const { body } = await client().get(`/sessions/${id}/pending`);
    return questionView.parse(body[0]).pendingId;
  }

  describe('sessions', () => {
    it('are created, listed, shown and removed', async () => {
      const id = await created({ title: 'fix it' });
      const { body: all } = await client().get('/sessions');
      expect(all.map(sessionView.parse).map((one: { sessionId: string }) => one.sessionId)).toContain(id);
      const { body: one } = await client().get(`/sessions/${id}`);
      expect(sessionView.parse(one)).toMatchObject({ sessionId: id, title: 'fix it', state: 'idle', sandbox: 'web' });
      expect(await client().call('DELETE', `/sessions/${id}`)).toMatchObject({ status: 200, body: { sessionId: id } });
      expect(await client().get(`/sessions/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    it('have the id that the client chose, also if the request is repeated', async () => {
      const sessionId = '01JD8Q4Z7W3V5T1N9R2B6C8D0F';
      expect([await created({ sessionId }), await created({ sessionId })]).toEqual([sessionId, sessionId]);
      await client().call('DELETE', `/sessions/${sessionId}`);
    });

    it('answer a prompt', async () => {
      const id = await created();
      const { events, seq, turnId } = await turnOf(id, harness().words.say('hello'));
      events.map((event) => eventView.parse(event));
      expect(events[seq - 1]).toMatchObject({ type: 'prompt', turnId, seq });
      const said = events.filter(({ type }) => type === 'text').map(({ data }) => data.text);
      expect(said.join('')).toContain('hello');
      const { body: messages } = await client().get(`/sessions/${id}/messages`);
      expect(messages.map(messageView.parse).map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
    });

    it('S1 number events from 1 without gaps', async () => {
      const id = await created();
      const { events } = await turnOf(id, harness().words.say('hello'));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    });

    it('S2 accept a repeated prompt once', async () => {
      const id = await created();
      const prompt = { turnId: 'mine', text: harness().words.say('once') };
      const first = await client().post(`/sessions/${id}/prompt`, prompt);
      await client().first(`/sessions/${id}/events`, lastOf('turn.ended'));
      expect(await client().post(`/sessions/${id}/prompt`, prompt)).toMatchObject({ status: 202, body: first.body });
      const { body } = await client().get(`/sessions/${id}/messages`);
      expect(body.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(1);
    });

    it('S9 keep a question until it is answered, and take the first answer', async () => {
      const id = await created();
      await client().post(`/sessions/${id}/prompt`, { text: harness().words.ask });
      const pendingId = await pendingOf(id);
      expect((await client().get(`/sessions/${id}`)).body).toMatchObject({
        state: 'waiting',
        pending: [{ pendingId }],
      });
      const at = `/sessions/${id}/pending/${pendingId}`;
      expect(await client().post(at, { optionId: 'perhaps' })).toMatchObject({ status: 400 });
      expect(await client().post(at, { optionId: 'yes' })).toMatchObject({ status: 200 });
      expect(await client().post(at, { optionId: 'no' })).toMatchObject({ status: 409 });
      const events = await client().first(`/sessions/${id}/events`, lastOf('turn.ended'));
      expect(events.map(({ data }) => data).join()).toContain('"optionId":"yes"');
    });

    it('S11 replay after a position, that of the header rather than of the query, and then follow', async () => {
      const id = await created();
      const { events } = await turnOf(id, harness().words.say('hello'));
      const path = `/sessions/${id}/events`;
      const [byQuery] = await client().first(`${path}?after=1`, 1);
      const [byHeader] = await client().first(`${path}?after=0`, 1, { 'last-event-id': '1' });
      expect([byQuery!.id, byHeader!.id]).toEqual(['2', '2']);
      expect(JSON.parse(byQuery!.data)).toEqual(events[1]);
      const following = client().first(`${path}?after=${events.length}`, lastOf('turn.ended'));
      await client().post(`/sessions/${id}/prompt`, { text: harness().words.say('again') });
      expect((await following)[0]!.id).toBe(String(events.length + 1));
    });

    it('S12 refuse a prompt while busy, or queue it, and cancel', async () => {
      const id = await created();
      const { wait, say } = harness().words;
      const { body: running } = await client().post(`/sessions/${id}/prompt`, { text: wait });
      expect(await client().post(`/sessions/${id}/prompt`, { text: say('x') })).toMatchObject({ status: 409 });
      const { body: next } = await client().post(`/sessions/${id}/prompt`, { text: say('x'), queue: true });
      expect((await client().get(`/sessions/${id}`)).body).toMatchObject({ turnId: running.turnId, queued: 1 });
      expect(await client().post(`/sessions/${id}/cancel`)).toMatchObject({ status: 200 });
      const ends = await client().first(
        `/sessions/${id}/events`,
        (sent) => lastOf('turn.ended')(sent) && sent.data.includes(next.turnId),
      );
      const reasons = ends.map(({ data }) => JSON.parse(data)).filter(({ type }) => type === 'turn.ended');
      expect(reasons.map(({ data }) => data.stopReason)).toEqual(['cancelled', 'end_turn']);
    });

    it('S12 cancel the questions of a turn', async () => {
      const id = await created();
      await client().post(`/sessions/${id}/prompt`, { text: harness().words.ask });
      const pendingId = await pendingOf(id);
      await client().post(`/sessions/${id}/cancel`);
      expect((await client().get(`/sessions/${id}/pending`)).body).toEqual([]);
      expect(await client().post(`/sessions/${id}/pending/${pendingId}`, { optionId: 'yes' })).toMatchObject({
        status: 409,
      });
    });

    it('S13 show the changes of one client to all clients', async () => {
      const id = await created();
      const others = [0, 1, 2].map(() => client().first(`/sessions/${id}/events`, lastOf('session.titled')));
      await client().post(`/sessions/${id}/mode`, { title: 'new' });
      for (const seen of await Promise.all(others))
        expect(JSON.parse(seen.at(-1)!.data).data).toEqual({ title: 'new' });
    });

    it('S14 fork with the events up to there, and are independent from then on', async () => {
      const id = await created();
      await turnOf(id, harness().words.say('hello'));
      const { status, body } = await client().post(`/sessions/${id}/fork`, { title: 'other way' });
      expect(status).toBe(200);
      expect(sessionView.parse(body)).toMatchObject({ title: 'other way', forkedFrom: { sessionId: id } });
      const { body: before } = await client().get(`/sessions/${id}/messages`);
      const { body: after } = await client().get(`/sessions/${body.sessionId}/messages`);
      const texts = (messages: { parts: object[] }[]) => messages.flatMap(({ parts }) => parts);
      expect(texts(after).slice(0, 2)).toEqual(texts(before).slice(0, 2));
      await turnOf(body.sessionId, harness().words.say('more'));
      expect((await client().get(`/sessions/${id}/messages`)).body).toEqual(before);
    });

    it('accept no prompt once they are closed', async () => {
      const id = await created();
      expect((await client().post(`/sessions/${id}/close`)).body).toMatchObject({ state: 'closed' });
      expect(await client().post(`/sessions/${id}/prompt`, { text: 'x' })).toMatchObject({ status: 409 });
    });

    it('answer 404 for an unknown session or question', async () => {
      for (const path of [missing, `${missing}/events`, `${missing}/messages`, `${missing}/pending`])
        expect(await client().get(`/sessions/${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      const id = await created();
      expect(await client().post(`/sessions/${id}/pending/none`, { cancel: true })).toMatchObject({ status: 404 });
    });
  });

  describe('the copy of the host', () => {
    it('gets the events of all sessions after its positions, also of sessions to come', async () => {
      const [known, unknown] = [await created(), await created()];
      const positions = Object.fromEntries(
        (await client().get('/sessions')).body.map((one: { sessionId: string; seq: number }) => [
          one.sessionId,
          one.seq,
        ]),
      );
      delete positions[unknown];
      const path = `/events?after=${encodeURIComponent(JSON.stringify(positions))}`;
      const seen = client().first(path, ({ data }) => lastOf('session.titled')({ data }) && data.includes('the end'));
      await client().post(`/sessions/${known}/mode`, { title: 'of the known one' });
      const later = await created();
      await client().post(`/sessions/${later}/mode`, { title: 'the end' });
      const events = await seen;
      const ofOne = (id: string) => events.filter(({ event }) => event === id).map(({ id: seq }) => Number(seq));
      expect(ofOne(known)).toEqual([positions[known] + 1]);
      expect([ofOne(unknown)[0], ofOne(later)[0]]).toEqual([1, 1]);
    });

    it('compares digests, and puts its lines in the place of a log', async () => {
      const id = await created();
      const { events } = await turnOf(id, harness().words.say('hello'));
      const sent = await client().first(`/sessions/${id}/events`, events.length);
      const lines = sent.map(({ data }) => data);
      const { body: before } = await client().get(`/sessions/${id}/digest?seq=${lines.length}`);
      expect(before.digest).toMatch(/^[0-9a-f]{64}$/);
      await client().call('DELETE', `/sessions/${id}`);
      const { status } = await client().post(`/sessions/${id}/restore`, `${lines.join('\n')}\n`);
      expect(status).toBe(200);
      const { body: after } = await client().get(`/sessions/${id}/digest?seq=${lines.length}`);
      expect(after).toEqual(before);
      const again = await client().first(`/sessions/${id}/events`, lines.length);
      expect(again.map(({ data }) => data)).toEqual(lines);
    });

    it('is refused if its lines are no events', async () => {
      const id = await created();
      const { status, body } = await client().post(`/sessions/${id}/restore`, '{"seq":1}\n');
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid' });
      expect((await client().get(`/sessions/${id}`)).status).toBe(200);
    });
  });
}
