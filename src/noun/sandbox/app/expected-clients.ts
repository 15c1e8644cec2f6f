/** Sandboxes that are kept for a client: one that was announced and has yet to attach, or one that reads. */
import type { Reconciler } from '../reconcile/reconcile.ts';

const clientMs = 10_000;

export class ExpectedClients {
  readonly #reconciler: Pick<Reconciler, 'hold' | 'wantConsole'>;
  readonly #expected = new Map<string, () => void>();

  constructor(reconciler: Pick<Reconciler, 'hold' | 'wantConsole'>) {
    this.#reconciler = reconciler;
  }

  /** The client that sent the request attaches next; a sandbox that ends before waits for it, at most `clientMs`. */
  expect(id: string): void {
    this.#reconciler.wantConsole(id);
    const release = this.#reconciler.hold(id);
    const came = () => {
      clearTimeout(timer);
      this.#expected.delete(id);
      void release().catch(() => {});
    };
    const timer = setTimeout(came, clientMs);
    timer.unref();
    this.#expected.set(id, came);
  }

  hold(id: string): () => Promise<void> {
    const release = this.#reconciler.hold(id);
    this.#expected.get(id)?.();
    return release;
  }
}
