/**
 * Vectors of texts, from one of two embedders: an endpoint that speaks the embeddings API of OpenAI, here, or the npm
 * package of `package-embedder.ts`, whose model runs in a thread.
 *
 *   embed* → close
 *
 * An embedder that fails makes no vector, and the note is saved without one.
 */
import { Fault } from '../../../model/fault.ts';

export interface Embedder {
  readonly model: string;
  /** `unavailable` if there is no answer, or no usable one. */
  embed(text: string): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface EndpointOptions {
  /** Such as https://api.openai.com/v1. */
  readonly url: string;
  readonly model: string;
  /** Headers with the API key. Called for each request, so that a changed secret is used at once. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  readonly nowMs?: () => number;
}

const answerMs = 10_000;
/** After a failure no request is sent for this time: saves must not wait for an endpoint that is down. */
const restMs = 30_000;
/** Models take about 8,000 tokens. */
const maxChars = 24_000;

export class EndpointEmbedder implements Embedder {
  readonly #options: EndpointOptions;
  readonly #nowMs: () => number;
  #restsUntilMs = 0;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get model(): string {
    return this.#options.model;
  }

  async embed(text: string): Promise<readonly number[]> {
    if (this.#nowMs() < this.#restsUntilMs) throw this.#failed('it failed a moment ago');
    try {
      return vectorIn(await this.#ask(text));
    } catch (error) {
      this.#restsUntilMs = this.#nowMs() + restMs;
      throw this.#failed((error as Error).message, error);
    }
  }

  async close(): Promise<void> {}

  async #ask(text: string): Promise<unknown> {
    const { url, model, headers, fetch: send = fetch } = this.#options;
    const response = await send(`${url.replace(/\/$/, '')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers() },
      body: JSON.stringify({ model, input: text.slice(0, maxChars), encoding_format: 'float' }),
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    return response.json();
  }

  #failed(why: string, cause?: unknown): Fault {
    return new Fault('unavailable', `${this.#options.url} made no vector: ${why}`, { cause });
  }
}

function vectorIn(answer: unknown): readonly number[] {
  const { data } = (answer ?? {}) as { data?: readonly { embedding?: unknown }[] };
  const vector = data?.[0]?.embedding;
  if (Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite)) return vector as number[];
  throw new Error('its answer has no vector');
}
