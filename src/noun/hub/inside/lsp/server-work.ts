/** The parameters of `$/progress`, unchecked. */
export interface ProgressParams {
  readonly token?: string | number;
  readonly value?: { readonly kind?: unknown };
}

export const isBegin = ({ value }: ProgressParams) => value?.kind === 'begin';
export const isEnd = ({ value }: ProgressParams) => value?.kind === 'end';

/** Background work that a server reports, such as indexing: by work-done progress or the status of rust-analyzer. */
export class ServerWork {
  readonly #running = new Set<string | number>();
  #isQuiescent = true;
  /** True: the server will announce its first work; until then its answers may lack the results of that work. */
  #isExpected: boolean;
  #waiting: (() => void)[] = [];

  /** `expectMs`: time-out for the first work; 0: none is expected. */
  constructor(expectMs = 0) {
    this.#isExpected = expectMs > 0;
    if (this.#isExpected) setTimeout(() => this.#expectNothing(), expectMs).unref();
  }

  get isRunning(): boolean {
    return this.#isExpected || this.#running.size > 0 || !this.#isQuiescent;
  }

  /** `$/progress` */
  progress(params: ProgressParams): void {
    const { token } = params;
    if (token === undefined) return;
    if (isBegin(params)) {
      this.#running.add(token);
      this.#isExpected = false;
    }
    if (isEnd(params)) this.#running.delete(token);
    this.#wake();
  }

  /** `experimental/serverStatus`. Answers with whether it has loaded the project. */
  status(params: unknown): boolean {
    this.#isQuiescent = (params as { quiescent?: unknown } | null)?.quiescent !== false;
    this.#wake();
    return this.#isQuiescent;
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    while (this.isRunning) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #expectNothing(): void {
    this.#isExpected = false;
    this.#wake();
  }

  #wake(): void {
    if (this.isRunning) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
