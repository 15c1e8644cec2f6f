/**
 * Kills the agent, the agent API, the daemon or a client between two events, again and again, while prompts are sent and questions are answered;
 * then compares what all of them have seen. What happens is decided by a seed.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../src/model/fault.ts';
import type { SessionEvent } from '../../src/model/session.ts';
import { type Random, randomFrom } from '../fixtures/random-edits.ts';
import { gather, type Installation, until } from './installation.ts';
import { problemsOf, type Talk } from './session.ts';
import { kill, processesInside } from './session-inside.ts';

const victims = ['agent', 'api', 'daemon', 'client'] as const;
type Victim = (typeof victims)[number];

/** A line of the agent's file `got`. */
type Got = { readonly prompt: string } | { readonly answer: string; readonly option: string };

export class Campaign {
  readonly killed: Record<Victim, number> = { agent: 0, api: 0, daemon: 0, client: 0 };
  readonly #carrel: Installation;
  readonly #sandboxId: string;
  readonly #random: Random;
  readonly #watched: Watched[];
  readonly #client: KilledClient;
  readonly #accepted: string[] = [];

  constructor(carrel: Installation, sandboxId: string, talks: readonly Talk[], seed: number) {
    this.#carrel = carrel;
    this.#sandboxId = sandboxId;
    this.#random = randomFrom(seed);
    this.#watched = talks.map((talk) => new Watched(talk));
    this.#client = new KilledClient(carrel, talks[0]!);
  }

  async round(number: number): Promise<void> {
    const random = this.#random;
    const watched = this.#watched[random(this.#watched.length)]!;
    const from = watched.seq;
    const texts = Array.from({ length: 1 + random(2) }, (_, at) => this.#prompt(`${number}-${at}`));
    const [events, delayMs] = [1 + random(9), random(5)];
    const sent = texts.map(([turnId, text]) => watched.talk.prompt(text, turnId, { queue: true }));
    await watched.until((seq, isQuiet) => seq >= from + events || (seq > from && isQuiet));
    const answering = random(2) === 0 ? this.#answerAll(watched.talk) : null;
    await pause(delayMs);
    await this.#kill(victims[number % victims.length]!);
    if (random(4) === 0) await this.#kill(victims[random(victims.length)]!);
    this.#accepted.push(...(await Promise.all(sent)));
    await answering;
    await this.#settle(watched);
  }

  /** What is wrong; empty: nothing. */
  async problems(): Promise<string[]> {
    const lines = (await this.#carrel.ok('exec', this.#watched[0]!.talk.sandbox, '--', 'cat', 'got'))
      .trim()
      .split('\n');
    const got = lines.map((line) => JSON.parse(line) as Got);
    const problems = twice(got.flatMap((one) => ('prompt' in one ? [one.prompt] : []))).map(
      (text) => `got twice: ${text}`,
    );
    const all: SessionEvent[] = [];
    for (const watched of this.#watched) {
      const [events, inside] = [await watched.talk.events(), await watched.talk.inside()];
      await watched.until((seq) => seq >= events.length);
      problems.push(...problemsOf(events), ...differences(events, inside, 'the log inside'));
      problems.push(...differences(events, watched.events, 'what a client saw'), ...unheard(events, got));
      all.push(...events);
    }
    const first = await this.#watched[0]!.talk.events();
    await until(() => this.#client.events.length >= first.length, 'the client that is killed to see all');
    problems.push(...differences(first, this.#client.events, 'what the client that is killed saw'));
    const prompted = new Set(all.filter(({ type }) => type === 'prompt').map(({ turnId }) => turnId));
    return [
      ...problems,
      ...this.#accepted.filter((id) => !prompted.has(id)).map((id) => `${id} was accepted and lost`),
    ];
  }

  close(): void {
    for (const one of this.#watched) one.close();
    this.#client.close();
  }

  /** A turn of words, or of a question among words. */
  #prompt(name: string): [string, string] {
    const words = `words ${1 + this.#random(5)} ${this.#random(4)}`;
    const asks = this.#random(3) === 0 ? [`ask question ${name}.`, words] : [];
    return [`turn-${name}`, [`# ${name}.`, words, ...asks].join('\n')];
  }

  async #kill(victim: Victim): Promise<void> {
    if (await this.#isKilled(victim)) this.killed[victim] += 1;
  }

  /** False: none was there. */
  async #isKilled(victim: Victim): Promise<boolean> {
    const carrel = this.#carrel;
    if (victim === 'client') return this.#client.kill();
    if (victim === 'daemon')
      return carrel.killDaemon().then(
        () => true,
        () => false,
      );
    const program = victim === 'api' ? 'session/main.js\0serve' : 'agent.mjs';
    const pids = processesInside(carrel, this.#sandboxId, program);
    return pids.length > 0 && kill(pids[this.#random(pids.length)]!);
  }

  /** Every question that stays is answered. */
  async #settle(watched: Watched): Promise<void> {
    const { talk } = watched;
    let seen = await talk.show();
    const isIdle = async () => {
      seen = await talk.show();
      if (seen.state === 'waiting') await this.#answerAll(talk);
      // An agent that is killed while it starts makes the session fail until the next prompt.
      return ['idle', 'failed'].includes(seen.state) && seen.turnId === null && seen.queued === 0;
    };
    await until(isIdle, 'the session to be idle').catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify([seen, watched.events.slice(-8)])}`);
    });
  }

  async #answerAll(talk: Talk): Promise<void> {
    for (const { pendingId } of (await talk.show()).pending) {
      await talk.answer(pendingId, 'yes').catch((error: unknown) => {
        // An answer whose response was lost counts, and so does one that another request gave.
        if (!isFault(error, 'conflict')) throw error;
      });
    }
  }
}

/** A client that follows a session and connects again by its position. */
class Watched {
  readonly talk: Talk;
  readonly events: SessionEvent[] = [];
  readonly #stop = new AbortController();

  constructor(talk: Talk) {
    this.talk = talk;
    void this.#follow();
  }

  get seq(): number {
    return this.events.length;
  }

  /** `isQuiet`: the agent waits for a person, or has ended its turn. */
  async until(isEnough: (seq: number, isQuiet: boolean) => boolean): Promise<void> {
    const quiet = ['question', 'turn.ended'];
    await until(() => isEnough(this.seq, quiet.includes(this.events.at(-1)?.type ?? '')), 'events of the session');
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const event of this.talk.follow(this.events.at(-1)?.seq ?? 0, signal)) this.events.push(event);
      } catch {
        // The daemon is gone, ignoring: another one comes.
        await pause(20, undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** `carrel session follow`, which is killed, and started again after the last line that it has written. */
class KilledClient {
  readonly #carrel: Installation;
  readonly #talk: Talk;
  readonly #before: SessionEvent[] = [];
  #process: ChildProcess;
  #written: () => string;

  constructor(carrel: Installation, talk: Talk) {
    this.#carrel = carrel;
    this.#talk = talk;
    [this.#process, this.#written] = this.#start();
  }

  get events(): readonly SessionEvent[] {
    return [...this.#before, ...this.#now()];
  }

  async kill(): Promise<true> {
    if (!this.#process.kill('SIGKILL')) throw new Error(`the client ended by itself with ${this.#process.exitCode}`);
    await new Promise((resolve) => this.#process.once('close', resolve));
    this.#before.push(...this.#now());
    [this.#process, this.#written] = this.#start();
    return true;
  }

  close(): void {
    this.#process.kill('SIGKILL');
  }

  #start(): [ChildProcess, () => string] {
    const { sandbox, id } = this.#talk;
    const after = String(this.#before.at(-1)?.seq ?? 0);
    const child = this.#carrel.spawn(['--json', 'session', 'follow', sandbox, '--session', id, '--after', after]);
    child.stderr!.resume();
    return [child, gather(child.stdout!)];
  }

  #now(): SessionEvent[] {
    return this.#written()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as SessionEvent);
  }
}

function twice(texts: readonly string[]): string[] {
  return texts.filter((text, at) => texts.indexOf(text) !== at);
}

function differences(events: readonly SessionEvent[], others: readonly SessionEvent[], what: string): string[] {
  if (events.length !== others.length) return [`${what} has ${others.length} events, not ${events.length}`];
  const at = events.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(others[index]));
  return at < 0 ? [] : [`${what} differs at event ${at + 1}`];
}

/** Turns that ended well without their agent, turns without end, and answers that no agent got. */
function unheard(events: readonly SessionEvent[], got: readonly Got[]): string[] {
  const text = got.map((one) => ('prompt' in one ? one.prompt : one.answer));
  const ended = events.filter((event) => event.type === 'turn.ended');
  const prompts = events.filter((event) => event.type === 'prompt');
  const well = prompts.filter(({ turnId }) =>
    ended.some((end) => end.turnId === turnId && end.data.stopReason === 'end_turn'),
  );
  const questions = events.filter((event) => event.type === 'question');
  const answered = new Set(events.flatMap((event) => (event.type === 'answer' ? [event.data.pendingId] : [])));
  return [
    ...prompts
      .filter(({ turnId }) => !ended.some((end) => end.turnId === turnId))
      .map((one) => `no end of ${one.turnId}`),
    ...well
      .filter(
        ({ data }) => !got.some((one) => 'prompt' in one && one.prompt === (data.content[0] as { text?: string }).text),
      )
      .map(({ turnId }) => `${turnId} ended, and the agent never got it`),
    ...questions.filter(({ data }) => !answered.has(data.pendingId)).map(({ data }) => `no answer to ${data.title}`),
    ...questions
      .filter(({ data }) => !text.some((one) => one.includes(data.title) && !one.includes(`ask ${data.title}`)))
      .map(({ data }) => `the agent never got the answer to ${data.title}`),
  ];
}
