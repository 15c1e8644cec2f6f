/**
 * Keeps the network of every running sandbox as its record says. A sandbox is connected before its command begins, when
 * a new daemon finds it running, and whenever its record changes.
 */
import { join } from 'node:path';
import type { Kernel } from '../../../kernel/kernel.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import { asFault, type Fault, isFault } from '../../../model/fault.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { CredentialKey } from '../credential/credential.ts';
import { type NetworkLimits, noNetwork } from '../model/network.ts';
import type { DeclaredService } from '../model/service.ts';
import type { Attachment, Network } from '../network.ts';

export interface NetworkParts extends Pick<Kernel, 'store' | 'engineOf' | 'report'> {
  readonly network: Network;
  readonly limits: NetworkLimits;
  /** The folder of a sandbox. */
  readonly folder: (id: string) => string;
  /** The credentials of the sandbox, with their values. */
  readonly credentials: (sandbox: Sandbox) => readonly CredentialKey[];
  readonly services: (sandbox: Sandbox) => readonly DeclaredService[];
  /**
   * False: the sandbox works without its services, such as the tools of the memory bank, which it also has as files.
   */
  readonly requiresServices: (sandbox: Sandbox) => boolean;
}

/** The pause before the next attempt to listen on a port in use, or to start a proxy that fails. */
const againMs = 500;

export class Networks {
  readonly #parts: NetworkParts;
  /** Why networks are not as their records say, by sandbox. */
  readonly #troubles = new Map<string, Fault>();
  readonly #exclusive = new Exclusive();
  /** The orders that the proxy has carried out, as text: an order is repeated only if it differs. */
  readonly #attached = new Map<string, string>();
  /** The sandboxes with a retry that is waiting. */
  readonly #again = new Set<string>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** The folder with the record of the sandbox's connections. */
  folder(id: string): string {
    return join(this.#parts.folder(id), 'network');
  }

  /** Why a network is not as its record says; null: it is. */
  trouble(id: string): string | null {
    return this.#troubles.get(id)?.message ?? null;
  }

  /**
   * Called when the proxy could not carry out an order, which is then retried. It can fail with `conflict` because an
   * agent can take a port while no proxy is there.
   */
  failed(id: string, fault: Fault): void {
    this.#attached.delete(id);
    if (isFault(fault, 'conflict')) {
      if (!this.#troubles.has(id)) this.#parts.report(id, fault);
      this.#troubles.set(id, fault);
    } else if (!isFault(fault, 'unavailable')) return;
    if (this.#again.has(id)) return;
    this.#again.add(id);
    setTimeout(() => {
      this.#again.delete(id);
      void this.refresh(id).catch(() => {});
    }, againMs).unref();
  }

  /** Called after a restart. Detaches everything that does not belong to a sandbox of the store. */
  async start(): Promise<void> {
    const ids = this.#parts.store.list('sandbox').map(({ id }) => id);
    await this.#parts.network.keepOnly(ids);
    await Promise.all(ids.map((id) => this.tryRefresh(id)));
  }

  /** Throws if the network cannot be set up. Without visible processes it only throws if a network is required. */
  async connect(sandbox: Sandbox, init: () => ProcessRef): Promise<void> {
    if (!this.#needs(sandbox)) return;
    await this.#exclusive.run(sandbox.id, () => this.#attachTo(sandbox, async () => init()));
  }

  /** Errors are only reported: a sandbox whose proxy cannot be reached has no network either. */
  async disconnect(id: string): Promise<void> {
    await this.#exclusive.run(id, () => this.#detach(id)).catch((error: unknown) => this.#report(id, error));
  }

  /** Called after the record of the network has changed. Throws if the new network cannot be set up. */
  refresh(id: string): Promise<void> {
    return this.#exclusive.run(id, () => this.#refresh(id));
  }

  /** The same in the background: errors are reported. */
  async tryRefresh(id: string): Promise<void> {
    await this.refresh(id).catch((error: unknown) => this.#report(id, error));
  }

  async #refresh(id: string): Promise<void> {
    const sandbox = this.#parts.store.get('sandbox', id)?.value;
    if (!sandbox || hasEnded(sandbox.status)) return this.#detach(id);
    // A sandbox that has not started is connected when it is started.
    if (sandbox.status.state !== 'running') return;
    if (!this.#needs(sandbox)) return this.#detach(id);
    await this.#attachTo(sandbox, () => this.#parts.engineOf(sandbox).network(id, sandbox.status.handle));
  }

  /**
   * An engine whose processes are not visible from here cannot connect a sandbox; this throws only if a network is
   * required.
   */
  async #attachTo(sandbox: Sandbox, find: () => Promise<ProcessRef>): Promise<void> {
    const init = await find().catch((error: unknown) => {
      if (!isFault(error, 'unsupported') || this.#isRequired(sandbox)) throw error;
      this.#troubles.set(sandbox.id, error);
    });
    if (init) await this.#attach(sandbox, init);
  }

  async #attach(sandbox: Sandbox, init: ProcessRef): Promise<void> {
    if (!this.#needs(sandbox)) return;
    const attachment = this.#attachment(sandbox, init);
    const text = JSON.stringify(attachment);
    if (this.#attached.get(sandbox.id) === text) return;
    this.#attached.delete(sandbox.id);
    await this.#parts.network.attach(attachment).catch((error: unknown) => {
      this.failed(sandbox.id, asFault(error));
      throw error;
    });
    crashPoint('network:attached');
    this.#troubles.delete(sandbox.id);
    this.#attached.set(sandbox.id, text);
  }

  async #detach(id: string): Promise<void> {
    this.#attached.delete(id);
    this.#troubles.delete(id);
    await this.#parts.network.detach(id);
  }

  #needs(sandbox: Sandbox): boolean {
    return this.#isRequired(sandbox) || this.#parts.services(sandbox).length > 0;
  }

  #isRequired(sandbox: Sandbox): boolean {
    const { allow, ports } = sandbox.spec.network ?? noNetwork;
    const { credentials = [] } = sandbox.spec;
    return allow.length + ports.length + credentials.length > 0 || this.#parts.requiresServices(sandbox);
  }

  #attachment(sandbox: Sandbox, init: ProcessRef): Attachment {
    const { id, name, spec } = sandbox;
    const { allow, ports } = spec.network ?? noNetwork;
    const { limits, credentials, services } = this.#parts;
    return {
      id,
      name,
      user: spec.user,
      init,
      folder: this.folder(id),
      allow,
      limits,
      services: services(sandbox),
      credentials: credentials(sandbox),
      ports,
    };
  }

  #report(id: string, error: unknown): void {
    this.#parts.report(id, asFault(error));
  }
}
