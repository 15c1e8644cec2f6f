/** The sessions of the demo agent on disk: one file per session, one line per message. */
import { randomUUID } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface ConversationMessage {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

const modes = [
  { id: 'ask', name: 'Ask', description: 'asks before it writes a file' },
  { id: 'auto', name: 'Auto', description: 'writes without asking' },
  { id: 'read', name: 'Read', description: 'writes nothing' },
];
const models = [
  { value: 'words', name: 'Words', description: 'answers word by word' },
  { value: 'whole', name: 'Whole', description: 'answers in one piece' },
];

export class Conversation {
  readonly id: string;
  readonly cwd: string;
  readonly canElicit: boolean;
  readonly messages: ConversationMessage[];
  mode = 'ask';
  model = 'words';
  /** The user allowed writing for the rest of the session. */
  mayWrite = false;
  readonly #file: string;
  #turn: AbortController | null = null;

  constructor(file: string, id: string, cwd: string, canElicit: boolean) {
    this.#file = file;
    this.id = id;
    this.cwd = cwd;
    this.canElicit = canElicit;
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    this.messages = lines.map((line) => JSON.parse(line) as ConversationMessage);
  }

  /** The answer to `session/new`, `session/load`, `session/resume` and `session/fork`. */
  get settings() {
    return {
      sessionId: this.id,
      modes: { currentModeId: this.mode, availableModes: modes },
      configOptions: [
        { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: this.model, options: models },
      ],
    };
  }

  setMode(mode: string): void {
    if (!modes.some(({ id }) => id === mode)) throw new Error(`there is no mode ${mode}`);
    this.mode = mode;
  }

  setModel(model: string): void {
    if (!models.some(({ value }) => value === model)) throw new Error(`there is no model ${model}`);
    this.model = model;
  }

  remember(message: ConversationMessage): void {
    this.messages.push(message);
    appendFileSync(this.#file, `${JSON.stringify(message)}\n`);
  }

  /** Starts a turn and returns its cancel signal. */
  begin(): AbortSignal {
    if (this.#turn) throw new Error('a turn is under way');
    this.#turn = new AbortController();
    return this.#turn.signal;
  }

  end(): void {
    this.#turn = null;
  }

  cancel(): void {
    this.#turn?.abort(new Error('cancelled'));
  }
}

export class Conversations {
  canElicit = false;
  readonly #open = new Map<string, Conversation>();
  readonly #folder = join(homedir(), '.demo-acp');

  create(cwd: string): Conversation {
    const id = randomUUID();
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#file(id), '');
    return this.load(id, cwd);
  }

  load(id: string, cwd: string): Conversation {
    if (!/^[\w-]+$/.test(id) || !existsSync(this.#file(id))) throw new Error(`there is no session ${id}`);
    const conversation = new Conversation(this.#file(id), id, cwd, this.canElicit);
    this.#open.set(id, conversation);
    return conversation;
  }

  fork(id: string, cwd: string): Conversation {
    const copy = randomUUID();
    copyFileSync(this.#file(this.load(id, cwd).id), this.#file(copy));
    return this.load(copy, cwd);
  }

  find(id: string): Conversation {
    const found = this.#open.get(id);
    if (!found) throw new Error(`there is no session ${id}`);
    return found;
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.ndjson`);
  }
}
