/** An agent for tests: it does what the text of a prompt says, and records its prompts. */

import { AgentLost } from '../../../agent/inside/acp/peer.ts';
import type { ContentBlock, StopReason } from '../../model/session.ts';
import type { Driver, DriverOptions, Recorder } from './driver.ts';

export class FakeAgents {
  readonly prompts: string[] = [];
  readonly starts: DriverOptions[] = [];
  readonly drivers: FakeDriver[] = [];
  /** The error with which the next agent does not start; null: it starts. */
  refusal: string | null = null;
  canLoad = true;
  diesAtOnce = false;

  readonly start = async (options: DriverOptions, recorder: Recorder): Promise<Driver> => {
    this.starts.push(options);
    if (this.refusal !== null) throw new Error(this.refusal);
    const choice = (current: string) => ({ current, available: ['a', 'b'].map((id) => ({ id, name: id })) });
    await recorder.remember({ agentSessionId: `agent-${options.sessionId}` });
    await recorder.record('session.configured', { modes: choice('a'), models: choice('b'), canLoad: this.canLoad });
    const driver = new FakeDriver(this, recorder);
    this.drivers.push(driver);
    if (this.diesAtOnce) driver.dieUnseen();
    return driver;
  };
}

export class FakeDriver implements Driver {
  readonly ended: Promise<string>;
  readonly settings: string[] = [];
  isStopped = false;
  #isDead = false;
  readonly #agents: FakeAgents;
  readonly #recorder: Recorder;
  #end!: (reason: string) => void;
  #cancel = () => {};

  constructor(agents: FakeAgents, recorder: Recorder) {
    this.#agents = agents;
    this.#recorder = recorder;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get canLoad(): boolean {
    return this.#agents.canLoad;
  }

  async prompt(content: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#isDead) {
      this.#end('killed');
      throw new AgentLost('killed', true);
    }
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    this.#agents.prompts.push(text);
    const lost = this.ended.then((reason): StopReason => {
      throw new AgentLost(reason);
    });
    const cancelled = new Promise<StopReason>((resolve) => {
      this.#cancel = () => resolve('cancelled');
    });
    return Promise.race([lost, text === 'deaf' ? lost : cancelled, this.#obey(text)]);
  }

  cancel(): void {
    this.#cancel();
  }

  async setMode(mode: string): Promise<void> {
    this.settings.push(mode);
  }

  async setModel(model: string): Promise<void> {
    this.settings.push(model);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.#end('stopped');
  }

  crash(reason: string): void {
    this.#end(reason);
  }

  /** The agent dies without notice; the next prompt finds that out. */
  dieUnseen(): void {
    this.#isDead = true;
  }

  async #obey(text: string): Promise<StopReason> {
    const [word, ...rest] = text.split(' ');
    if (word === 'hang' || word === 'deaf') return new Promise(() => {});
    if (word === 'ask' || word === 'mute' || word === 'busy') {
      const options = [{ id: 'yes', name: 'Yes' }];
      const answer = await this.#recorder.ask({ kind: 'permission', title: rest.join(' '), options });
      if (word === 'mute') return new Promise(() => {});
      await this.#recorder.record('text', { text: `answer ${answer.optionId ?? 'none'}` });
      return word === 'busy' ? new Promise(() => {}) : 'end_turn';
    }
    for (const text of rest) await this.#recorder.record('text', { text });
    return 'end_turn';
  }
}
