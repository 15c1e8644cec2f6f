/**
 * Drives one agent by the Agent Client Protocol: the one `Driver` of real agents.
 *
 * Life cycle: the agent's process starts → `initialize` → its session is loaded, forked or opened new (`opening.ts`) →
 * mode and model of the session are restored → prompts, one after the other → the process ends, and the driver with it.
 * A start that takes longer than two minutes fails. An agent that cannot load its session gets a new one, and a note in
 * the log says that it does not remember the earlier conversation.
 *
 * Promises:
 * - The agent opens files and starts programs in the sandbox itself, so this client offers it neither.
 * - The next message is read only when the recorder lets another event follow, so an agent cannot be faster than the disk.
 * - What the agent sends is limited in size. An update of an unknown kind or shape is recorded as it came; a message
 *   over the limit ends the agent.
 * - A permission is decided by the owner's rule for that kind of tool, or else by a person.
 */
import { join } from 'node:path';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { Fault } from '../../../../model/fault.ts';
import { AcpPeer, AgentLost } from '../../../agent/inside/acp/peer.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { type ContentBlock, type EventData, type StopReason, stopReasons } from '../../model/session.ts';
import type { ApiSettings } from '../../model/settings.ts';
import type { Driver, DriverOptions, Recorder } from '../driver/driver.ts';
import { startTime } from '../driver/process-state.ts';
import { AgentProcess, type ProcessPlace } from './agent-process.ts';
import { AgentQuestions } from './agent-questions.ts';
import { type Configuration, commandsOf, configurationOf, type Known } from './configuration.ts';
import { type OpenedAgentSession, openSession } from './opening.ts';
import { eventOf } from './translate.ts';

/** Long enough for an agent that installs or updates itself when it starts. */
const startMs = 120_000;

type Json = Readonly<Record<string, unknown>>;

export interface AcpParts {
  readonly settings: () => ApiSettings;
  /** The folder of all sessions. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secretsFolder: string;
}

export class AcpDriver implements Driver {
  readonly ended: Promise<string>;
  canLoad = false;
  readonly #process: AgentProcess;
  readonly #peer: AcpPeer;
  readonly #recorder: Recorder;
  readonly #questions: AgentQuestions;
  #sessionId: string | null = null;
  #configuration: Configuration = { modes: null, models: null };

  static async start(options: DriverOptions, recorder: Recorder, parts: AcpParts): Promise<Driver> {
    const { agents, mcpServers } = parts.settings();
    const spec = agents[options.agent];
    if (!spec) throw new Fault('invalid', `this sandbox no longer has the agent ${options.agent}`);
    const { env, secretsFolder, folder } = parts;
    const place: ProcessPlace = { env, secretsFolder, cwd: options.cwd, folder: join(folder, options.sessionId) };
    const driver = new AcpDriver(new AgentProcess(spec, place), spec, recorder);
    try {
      await driver.#open(options, spec, mcpServers);
      return driver;
    } catch (error) {
      await driver.stop();
      throw error instanceof AgentLost ? new AgentLost(await driver.ended) : error;
    }
  }

  private constructor(process: AgentProcess, spec: AcpSpec, recorder: Recorder) {
    this.#process = process;
    this.#recorder = recorder;
    this.#questions = new AgentQuestions(spec, recorder);
    this.#peer = new AcpPeer(process.group.stdout, process.group.stdin, {
      notified: (method, params) => this.#notified(method, params),
      requested: (method, params) => this.#questions.requested(method, params as Json),
    });
    this.ended = this.#end();
  }

  async prompt(prompt: readonly ContentBlock[]): Promise<StopReason> {
    try {
      if (this.#process.isEnding) throw new AgentLost('the agent ended', true);
      const answer = (await this.#peer.request('session/prompt', {
        sessionId: this.#sessionId,
        prompt,
      })) as Json | null;
      return stopReasons.find((one) => one === answer?.stopReason) ?? 'end_turn';
    } catch (error) {
      if (!(error instanceof AgentLost)) throw error;
      // An agent that does not read any more may still run.
      if (error.isUnsent) await this.stop();
      throw new AgentLost(await this.ended, error.isUnsent);
    }
  }

  cancel(): void {
    this.#peer.notify('session/cancel', { sessionId: this.#sessionId });
  }

  setMode(mode: string): Promise<void> {
    return this.#set(this.#configuration.modes, mode);
  }

  setModel(model: string): Promise<void> {
    return this.#set(this.#configuration.models, model);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }

  /** An agent that broke the protocol is ended. */
  async #end(): Promise<string> {
    const failure = await this.#peer.closed;
    if (failure) await this.#process.stop();
    const reason = await this.#process.reason();
    return failure?.message ?? reason;
  }

  async #open(options: DriverOptions, spec: AcpSpec, mcpServers: readonly Json[]): Promise<void> {
    const { pid } = this.#process.group;
    const started = pid === undefined ? null : startTime(pid);
    if (pid !== undefined && started !== null) await this.#recorder.remember({ process: { pid, startTime: started } });
    const opening = this.#openSession(options, spec, mcpServers);
    const { note, canLoad, canFork } = await withTimeout(
      startMs,
      Promise.race([opening, this.#process.failed]),
      tooLate,
    );
    this.canLoad = canLoad;
    if (note) await this.#recorder.record('session.note', { text: note });
    await this.#recorder.record('session.configured', { ...this.#choices(), canLoad, canFork });
  }

  /** Opens the session of the agent, with its mode and its model. */
  async #openSession(options: DriverOptions, spec: AcpSpec, mcpServers: readonly Json[]): Promise<OpenedAgentSession> {
    const opened = await openSession({ peer: this.#peer, spec, options, mcpServers });
    this.#sessionId = opened.agentSessionId;
    this.#configuration = configurationOf(opened.answer);
    await this.#recorder.remember({ agentSessionId: opened.agentSessionId });
    await this.#restore(options);
    return opened;
  }

  /** Restores the mode and the model of this session. If the agent no longer has one of them, its own choice stays. */
  async #restore({ known }: DriverOptions): Promise<void> {
    const wishes = [
      [known.mode, 'modes'],
      [known.model, 'models'],
    ] as const;
    for (const [wish, what] of wishes) {
      const present = this.#configuration[what];
      if (wish === undefined || !present || present.choice.current === wish) continue;
      await this.#set(present, wish).then(
        () => void this.#chose(what, wish),
        (error: Error) =>
          this.#recorder.record('session.note', { text: `The agent does not have ${wish}: ${error.message}` }),
      );
    }
  }

  async #set(known: Known | null, id: string): Promise<void> {
    if (!known) throw new Fault('unsupported', 'the agent does not let clients change this setting');
    const { setter } = known;
    const sessionId = this.#sessionId;
    if ('method' in setter) await this.#peer.request(setter.method, { sessionId, [setter.field]: id });
    else await this.#peer.request('session/set_config_option', { sessionId, configId: setter.configId, value: id });
  }

  #chose(what: 'modes' | 'models', current: string): EventData['session.configured'] | undefined {
    const known = this.#configuration[what];
    if (!known) return undefined;
    this.#configuration = { ...this.#configuration, [what]: { ...known, choice: { ...known.choice, current } } };
    return this.#choices();
  }

  #choices(): EventData['session.configured'] {
    const { modes, models } = this.#configuration;
    return { ...(modes ? { modes: modes.choice } : {}), ...(models ? { models: models.choice } : {}) };
  }

  async #notified(method: string, params: unknown): Promise<void> {
    const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: unknown };
    if (method !== 'session/update' || typeof update !== 'object' || update === null) return;
    if (this.#sessionId !== null && sessionId !== this.#sessionId) return;
    const configured = this.#configured(update as Json);
    if (configured) await this.#recorder.record('session.configured', configured);
    // While the agent loads a session, it repeats updates that are in the log already.
    else if (configured === null && this.#sessionId !== null) await this.#record(update as Json);
  }

  /** Null: another kind of update. Undefined: nothing new. */
  #configured(update: Json): EventData['session.configured'] | null | undefined {
    switch (update.sessionUpdate) {
      case 'available_commands_update':
        return { commands: commandsOf(update.availableCommands) };
      case 'current_mode_update':
        return this.#chose('modes', String(update.currentModeId));
      case 'config_option_update':
        return this.#reconfigured(configurationOf(update));
      default:
        return null;
    }
  }

  #reconfigured({ modes, models }: Configuration): EventData['session.configured'] {
    this.#configuration = { modes: modes ?? this.#configuration.modes, models: models ?? this.#configuration.models };
    return this.#choices();
  }

  #record(update: Json): Promise<void> {
    const { type, data } = eventOf(update);
    return this.#recorder.record(type, data);
  }
}

function tooLate(): never {
  throw new Fault('timeout', `the agent did not start within ${startMs / 1000} seconds`);
}
