/** All sandboxes that the daemon has attached to the proxy. */

import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { isAlive, isSameProcess } from '../../../lib/process/process.ts';
import type { ProxyOrder } from '../control.ts';
import type { Attachment } from '../network.ts';
import type { ProxyParts } from './proxy.ts';
import { SandboxPorts } from './sandbox-ports.ts';

/** The interval of the check for sandboxes that ended while no daemon ran. */
const sweepMs = 2000;

export class SandboxAttachments {
  readonly #parts: ProxyParts;
  readonly #sandboxes = new Map<string, SandboxPorts>();
  readonly #exclusive = new Exclusive();

  constructor(parts: ProxyParts) {
    this.#parts = parts;
    setInterval(() => this.#sweep(), sweepMs).unref();
  }

  get isIdle(): boolean {
    return this.#sandboxes.size === 0;
  }

  async obey(order: Exclude<ProxyOrder, { verb: 'hello' }>): Promise<void> {
    if (order.verb === 'attach') return this.#exclusive.run(order.attachment.id, () => this.#attach(order.attachment));
    if (order.verb === 'detach') return this.#exclusive.run(order.id, async () => this.#detach(order.id));
    for (const id of [...this.#sandboxes.keys()]) if (!order.ids.includes(id)) this.#detach(id);
  }

  /** A sandbox with another init process was started again: the earlier one is detached. */
  async #attach(attachment: Attachment): Promise<void> {
    const { id, init } = attachment;
    const before = this.#sandboxes.get(id);
    if (before && !isSameProcess(before.attached.attachment.init, init)) this.#detach(id);
    const ports = this.#sandboxes.get(id) ?? new SandboxPorts(attachment, this.#parts);
    this.#sandboxes.set(id, ports);
    await ports.change(attachment);
  }

  #detach(id: string): void {
    this.#sandboxes.get(id)?.close();
    this.#sandboxes.delete(id);
  }

  #sweep(): void {
    for (const [id, { attached }] of this.#sandboxes) if (!isAlive(attached.attachment.init)) this.#detach(id);
  }
}
