/** Answers requests of users about sandboxes. Writes specs and leaves the work to the reconciler. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Places } from '../../../kernel/home/places.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { PortRequest } from '../../network/api.ts';
import type { CredentialGrant } from '../../network/model/credential.ts';
import type { PortForward } from '../../network/model/network.ts';
import type { SandboxRequest, SandboxView, StatsView } from '../api.ts';
import { launchAdditions } from '../launch/launch.ts';
import {
  boundFolders,
  hasEnded,
  initialStatus,
  type Sandbox,
  type SandboxSpec,
  type SpecTexts,
  withSpec,
} from '../model.ts';
import type { Unapplied } from '../part/part.ts';
import type { Reconciler } from '../reconcile/reconcile.ts';
import type { Removal, Sandboxes } from '../sandbox.ts';
import { ExpectedClients } from './expected-clients.ts';
import { type ObservedSandbox, observe, observeAll, statsOfRunning } from './observe.ts';
import { isLeaving, requireRoom, requireStartable, SandboxRecords, wouldLose } from './sandbox-records.ts';
import {
  composeSpec,
  defaultGraceMs,
  ownProject,
  requestedImage,
  type SpecConfig,
  type SpecImage,
  type SpecParts,
} from './spec.ts';
import { requireRemovable } from './stale.ts';
import { type ViewTroubles, viewOf, viewText } from './view.ts';

export interface SandboxParts extends Pick<Kernel, 'store' | 'engineOf' | 'now'> {
  readonly reconciler: Reconciler;
  readonly places: Places;
  readonly config: SpecConfig;
  /** The user whose sandboxes these are. */
  readonly owner: string;
  /** The account on this machine whose folders may be projects; null: none may, `any`: all may. */
  readonly account: number | null | 'any';
  /** The clock for ages: if the system clock is set ahead, nothing gets older. */
  readonly steadyMs: () => number;
  /** Why no working copy can be laid over a folder; null when it can. */
  readonly overlayRefusal: (lower: string) => string | null;
  /** Changes and commits of the sandbox that are not on the host yet. */
  readonly unapplied: (sandbox: Sandbox) => Promise<Unapplied | null>;
  readonly granting: SpecParts['granting'];
  /** Refuses shares that were revoked since the spec was made. */
  readonly requireShares: (spec: SandboxSpec) => void;
  readonly requireHome: () => void;
  /** Resolves the names of images that this user may use. */
  readonly images: {
    check(name: string): void;
    resolve(name: string): Promise<SpecImage>;
  };
  readonly credentialGrants: (names: readonly string[]) => CredentialGrant[];
  readonly networkRules: SpecParts['networkRules'];
  readonly hostPorts: { choose(requests: readonly PortRequest[]): Promise<PortForward[]> };
  /** Refuses a spec whose texts contain the value of a secret. */
  readonly checkSpec: (spec: SpecTexts) => void;
  /** Why the network of a sandbox is not as its record says. */
  readonly networkTrouble: (id: string) => string | null;
  /** Wakes the reconciler for a sandbox; the reconciler reports errors. */
  readonly wake: (id: string) => void;
}

type SandboxRow = Row<'sandbox'>;

export class UserSandboxes implements Sandboxes {
  readonly #parts: SandboxParts;
  readonly records: SandboxRecords;
  readonly #clients: ExpectedClients;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    this.records = new SandboxRecords(parts.store, parts.owner);
    this.#clients = new ExpectedClients(parts.reconciler);
  }

  get owner(): string {
    return this.#parts.owner;
  }

  /**
   * Records and starts the sandbox; returns when it runs or has ended. If it cannot be started, its record is removed.
   */
  async create(request: SandboxRequest, id = randomBytes(8).toString('hex')): Promise<SandboxView> {
    const { store, wake } = this.#parts;
    const imageName = requestedImage(request);
    const image = imageName === null ? null : await this.#parts.images.resolve(imageName);
    const ports = await this.#parts.hostPorts.choose(request.ports ?? []);
    const spec = this.#specOf(request, image, ports);
    requireRoom(store);
    const { row, flushed } = await this.#launch(request, spec, id);
    wake(id);
    await flushed;
    return this.view(store.get('sandbox', id)?.value ?? row.value);
  }

  /** Record and start are one turn of the reconciler: a caller in between would get the Fault of a failed start. */
  async #launch(request: SandboxRequest, spec: SandboxSpec, id: string) {
    let isRecorded = false;
    try {
      return await this.#parts.reconciler.launch(id, () => {
        const row = this.#insert(request.name, spec, id);
        isRecorded = true;
        const flushed = this.#parts.store.flushed();
        flushed.catch(() => {}); // A failed start is answered without waiting for the flush.
        if (request.console) this.#clients.expect(id);
        this.#parts.engineOf(row.value).expect();
        return { row, flushed };
      });
    } catch (error) {
      if (isRecorded) await this.#withdraw(id);
      throw error;
    }
  }

  /** What `create` would record, or its refusal. Nothing is done, except that missing volumes of the user are made. */
  check(request: SandboxRequest): SandboxSpec {
    const image = requestedImage(request);
    if (image !== null) this.#parts.images.check(image);
    return this.#specOf(request, image === null ? null : { name: image, id: '', path: null });
  }

  /** Keeps the sandbox while a client reads from it. */
  hold(id: string): () => Promise<void> {
    return this.#clients.hold(id);
  }

  #specOf(request: SandboxRequest, image: SpecParts['image'], ports: SpecParts['ports'] = []): SandboxSpec {
    const { home } = this.#parts.places;
    const spec = composeSpec(request, { ...this.#parts, image, ports, home, open: () => this.#openFolders() });
    this.#parts.checkSpec({ ...spec, name: request.name });
    return spec;
  }

  /** The real folder of a project that this user may name. */
  project(path: string): string {
    const { owner, account, config, places } = this.#parts;
    return ownProject(path, { owner, account, config, home: places.home, open: () => this.#openFolders() });
  }

  /** The account whose files this user may read; null: any account. */
  get account(): number | null {
    const { account } = this.#parts;
    return account === 'any' ? null : (account ?? -1);
  }

  #openFolders(): string[] {
    return this.rows(true).flatMap(({ value }) => boundFolders(value.spec));
  }

  #insert(requestedName: string | undefined, spec: SandboxSpec, id: string): SandboxRow {
    const { owner, now } = this.#parts;
    const name = requestedName === undefined ? this.records.freeName() : checkSandboxName(requestedName);
    this.#parts.requireShares(spec);
    const at = now();
    const value: Sandbox = { id, name, createdAt: at, spec, status: initialStatus };
    const event = { at, type: 'sandbox.created', subject: id, data: { name, user: owner } };
    return this.records.insert(value, event, { lazy: true });
  }

  async #withdraw(id: string): Promise<void> {
    const row = this.#parts.store.get('sandbox', id);
    if (row) this.#ask(row, { desired: 'removed' }, 'sandbox.withdrawn');
    await this.#parts.reconciler.settle(id);
  }

  async list(allUsers = false): Promise<SandboxView[]> {
    return (await this.#observed(allUsers)).map(([sandbox, unseen]) => this.view(sandbox, unseen));
  }

  /** The same list as JSON. */
  async listJson(allUsers = false): Promise<EncodedJson> {
    const found = await this.#observed(allUsers);
    const texts = found.map(([sandbox, unseen]) => viewText(sandbox, this.#parts.places, this.#seen(sandbox, unseen)));
    return new EncodedJson(Buffer.from(`[${texts.join(',')}]`));
  }

  #observed(allUsers: boolean): Promise<ObservedSandbox[]> {
    return observeAll(this.#parts, () => this.rows(allUsers));
  }

  rows(allUsers = false): readonly SandboxRow[] {
    const { store, owner } = this.#parts;
    return allUsers ? store.list('sandbox') : store.list('sandbox', owner);
  }

  async show(name: string): Promise<SandboxView> {
    const { row, unseen } = await this.seen(name);
    return this.view(row.value, unseen);
  }

  /** For callers that only read: if the engine cannot be asked, the last recorded state, and why. */
  async seen(name: string): Promise<{ row: SandboxRow; unseen: string | null }> {
    const unseen = await observe(this.#parts.reconciler, this.#find(name));
    return { row: this.#find(name), unseen };
  }

  /** The row with the observed state; with an id, only if the name belongs to that sandbox. */
  async current(name: string, id?: string): Promise<SandboxRow> {
    await this.#parts.reconciler.refresh(this.#find(name, id));
    return this.#find(name, id);
  }

  /** For callers that use the data of a sandbox: a recorded end is final, whether or not the engine answers. */
  async kept(name: string): Promise<SandboxRow> {
    const { row, unseen } = await this.seen(name);
    return unseen === null || hasEnded(row.value.status) ? row : this.current(name);
  }

  #find(name: string, id?: string): SandboxRow {
    const row = this.#parts.store.find('sandbox', this.#parts.owner, checkSandboxName(name));
    if (row === null || (id !== undefined && row.id !== id))
      throw new Fault('not_found', `no sandbox ${name}`, { hint: 'See: carrel ls' });
    return row;
  }

  /** `console`: a client attaches next. */
  async start(name: string, console = false): Promise<SandboxView> {
    const { store, reconciler } = this.#parts;
    const row = await this.current(name);
    requireStartable(row);
    if (console) this.#clients.expect(row.id);
    await reconciler.settle(row.id, () => this.#askStart(name, row.id));
    return this.view(store.get('sandbox', row.id)?.value ?? row.value);
  }

  #askStart(name: string, id: string): void {
    const row = this.#find(name, id);
    requireStartable(row);
    const attempt = row.value.status.attempt + 1;
    this.#ask(row, { desired: 'running', stopReason: null, attempt }, 'sandbox.start_requested');
  }

  /** Changes the spec for the next start: what surrounds the sandbox, not what it is made of. */
  change(name: string, id: string, change: Partial<SandboxSpec>): void {
    const row = this.#find(name, id);
    if (!hasEnded(row.value.status))
      throw new Fault('conflict', `the settings of ${name} cannot change while it is ${row.value.status.state}`);
    this.#ask(row, change, 'sandbox.changed');
  }

  async stop(name: string, graceMs = defaultGraceMs, id?: string): Promise<SandboxView> {
    const row = await this.current(name, id);
    if (hasEnded(row.value.status)) return this.view(row.value);
    this.#ask(row, { desired: 'stopped', graceMs }, 'sandbox.stop_requested');
    await this.#hurry(row, graceMs);
    return this.settled(row);
  }

  async remove(name: string, removal: Removal = {}): Promise<SandboxView> {
    const { force = false, dryRun = false, id } = removal;
    const row = await this.current(name, id);
    requireRemovable(row.value, removal, this.#parts.steadyMs());
    const lost = force ? null : await this.#parts.unapplied(row.value);
    if (!force && isLeaving(this.#parts.store, row.id)) return this.settled(row);
    if (lost !== null) throw wouldLose(name, lost);
    if (dryRun) return this.view(row.value);
    if (!hasEnded(row.value.status) && !force) {
      // The sandbox may have changed something since the check.
      await this.stop(name, undefined, row.id);
      return this.remove(name, { ...removal, id: row.id });
    }
    this.#ask(row, { desired: 'removed', ...(force ? { graceMs: 0 } : {}) }, 'sandbox.remove_requested');
    if (force) await this.#hurry(row, 0);
    return this.settled(row);
  }

  /** A stop in progress does not wait longer than the newer request asks for. */
  async #hurry(row: SandboxRow, graceMs: number): Promise<void> {
    const { spec } = row.value;
    if (spec.desired !== 'running' && graceMs < spec.graceMs) await this.#parts.reconciler.hurry(row, graceMs);
  }

  #ask(row: SandboxRow, change: Partial<SandboxSpec>, type: string): void {
    const event = { at: this.#parts.now(), type, subject: row.id, data: { name: row.name, user: row.owner } };
    this.#parts.store.update(row, withSpec(row.value, change), event);
  }

  /** Waits until the reconciler has nothing left to do for the sandbox. */
  async settled(row: SandboxRow): Promise<SandboxView> {
    const { store, reconciler } = this.#parts;
    await reconciler.settle(row.id);
    return this.view(store.get('sandbox', row.id)?.value ?? row.value);
  }

  async wait(name: string, signal: AbortSignal): Promise<SandboxView> {
    return this.ended((await this.current(name)).value, signal);
  }

  /** Resolves when this very sandbox has ended or is gone. */
  async ended(sandbox: Sandbox, signal: AbortSignal): Promise<SandboxView> {
    const { store } = this.#parts;
    let last = sandbox;
    const changed = new EventTarget();
    const forget = store.subscribe((event) => event.subject === last.id && changed.dispatchEvent(new Event('change')));
    try {
      for (;;) {
        const now = store.get('sandbox', last.id)?.value;
        if (!now || hasEnded(now.status)) return this.view(now ?? last);
        last = now;
        await once(changed, 'change', { signal });
      }
    } finally {
      forget();
    }
  }

  /** Refuses values of secrets: other programs on the machine can read variables and arguments. */
  checkCommand(env: Readonly<Record<string, string>>, command: readonly string[]): void {
    this.#parts.checkSpec({ env, command, labels: {} });
  }

  /** The folder in which commands run that name none. */
  cwd(sandbox: Sandbox): string {
    return launchAdditions(sandbox, this.#parts.places).cwd;
  }

  stats(): Promise<StatsView[]> {
    return statsOfRunning(this.#parts.engineOf, this.rows());
  }

  view(sandbox: Sandbox, unseen: string | null = null): SandboxView {
    return viewOf(sandbox, this.#parts.places, this.#seen(sandbox, unseen));
  }

  #seen({ id }: Sandbox, unseen: string | null): ViewTroubles {
    return { unseen, trouble: this.#parts.networkTrouble(id) };
  }
}
