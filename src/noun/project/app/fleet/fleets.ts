/**
 * Fleets of one user for the API: plans and compose files. The client takes the steps of a plan through the other
 * routes.
 */
import { dirname } from 'node:path';
import { isInside } from '../../../../lib/file/host-path.ts';
import { Fault, isFault } from '../../../../model/fault.ts';
import type { Limits } from '../../../../model/limits.ts';
import { printable } from '../../../../model/name.ts';
import type { Actor } from '../../../../model/user.ts';
import type { UsableImages } from '../../../image/image.ts';
import { boundFolders, type Sandbox } from '../../../sandbox/model.ts';
import type { Unapplied } from '../../../sandbox/part/part.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import type { UserSecrets } from '../../../user/app/secret/user-secrets.ts';
import type { UserVolumes } from '../../../volume/app/user-volumes.ts';
import type { FleetPlan, FleetStep } from '../../api/fleet.ts';
import { declare } from '../../fleet/declare.ts';
import {
  type Declaration,
  type DeclaredSandbox,
  type Existing,
  type PlanStep,
  type Problem,
  problem,
  type RenderContext,
  refusal,
} from '../../fleet/fleet.ts';
import { plan } from '../../fleet/plan.ts';
import type { Trusts } from './trusts.ts';

export interface FleetParts {
  readonly sandboxes: Sandboxes;
  readonly volumes: UserVolumes;
  readonly rooms: { names(): string[] };
  readonly watches: { all(): Existing['watches'] };
  readonly secrets: UserSecrets;
  readonly images: Pick<UsableImages, 'prove'>;
  readonly trusts: Pick<Trusts, 'show'>;
  /** The limits for what a declaration leaves out. */
  readonly limits: Limits;
  readonly volumePrefix: string;
  readonly installation: string;
  /** Changes and commits of the sandbox that are not on the host yet. */
  readonly unapplied: (sandbox: Sandbox) => Promise<Unapplied | null>;
  /** Writes a declaration as a docker-compose.yml. */
  readonly compose: (fleet: Declaration, context: RenderContext) => string;
}

/** The content of a carrel.yaml, and its path. */
export interface FleetFile {
  readonly file: string;
  readonly content: unknown;
}

export class Fleets {
  readonly #actor: Actor;
  readonly #parts: FleetParts;

  constructor(actor: Actor, parts: FleetParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  /** Refuses every failure that can be foreseen, before any step is taken. */
  async plan(fleet: FleetFile): Promise<FleetPlan> {
    const declared = this.#declared(fleet);
    const existing = await this.#existing();
    const { steps, same, completed, problems } = plan(this.#withNetworks(declared, existing), existing);
    const unfit = declared.volumes.flatMap((name, index) => this.#unfitVolume(name, index));
    if (problems.length + unfit.length > 0) throw refusal([...problems, ...unfit]);
    const refused = steps.flatMap((step) => this.#check(step, fleet.file));
    if (refused.length > 0) throw refusal(refused);
    const unusable = await this.#unusableImages(steps);
    if (unusable.length > 0) throw refusal(unusable);
    return {
      fleet: declared.name,
      steps: await Promise.all(steps.map((step) => this.#viewOf(step))),
      untrusted: this.#parts.trusts.show(fleet).added,
      same: [...same],
      completed: [...completed],
    };
  }

  /** Depends on the declaration alone, not on what exists on this machine. */
  compose(fleet: FleetFile): { fleet: string; text: string } {
    const declared = this.#declared(fleet);
    const { compose, limits, volumePrefix, installation } = this.#parts;
    return {
      fleet: declared.name,
      text: compose(declared, { user: this.#actor.name, volumePrefix, installation, limits }),
    };
  }

  #declared({ file, content }: FleetFile): Declaration {
    this.#refuseOpen(file);
    return declare(content, dirname(file));
  }

  /** Refuses a file that an agent can write: the agent must not decide what runs. */
  #refuseOpen(file: string): void {
    const rows = this.#parts.sandboxes.rows(this.#actor.isOwner);
    const writer = rows.find(({ value }) => boundFolders(value.spec).some((folder) => isInside(file, folder)));
    if (!writer) return;
    throw new Fault('denied', `${printable(file)} is in a folder that the sandbox ${writer.name} can write`, {
      hint: `Move it elsewhere, look at it, and name it with --file; or remove the sandbox: carrel rm ${writer.name}`,
    });
  }

  async #existing(): Promise<Existing> {
    const { sandboxes, volumes, rooms, watches, secrets } = this.#parts;
    return {
      sandboxes: (await sandboxes.list()).map((view) => ({ ...view, allow: view.network.allow })),
      volumes: volumes.list(false).map(({ type, label }) => label ?? type),
      rooms: rooms.names(),
      watches: watches.all(),
      secrets: secrets.list().map(({ name }) => name),
    };
  }

  /** An existing sandbox without declared rules is compared with the rules that a new one would get. */
  #withNetworks(declared: Declaration, existing: Existing): Declaration {
    const there = new Set(existing.sandboxes.map(({ name }) => name));
    const sandboxes = declared.sandboxes.map((sandbox) =>
      sandbox.network === null && there.has(sandbox.name)
        ? { ...sandbox, network: this.#usualRules(sandbox) }
        : sandbox,
    );
    return { ...declared, sandboxes };
  }

  /** Null: a new one would be refused, so its rules are unknown. */
  #usualRules({ project, mode }: DeclaredSandbox): readonly string[] | null {
    try {
      const request = { mode, ...(project === null || mode === 'none' ? {} : { project: project.path }) };
      return this.#parts.sandboxes.check(request).network?.allow ?? [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return null;
    }
  }

  #unfitVolume(name: string, index: number): Problem[] {
    try {
      this.#parts.volumes.checkDeclared(name);
      return [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [problem(error.code, ['volumes', index], error.message, error.hint)];
    }
  }

  /** The reasons for which the step would be refused. */
  #check(step: PlanStep, file: string): Problem[] {
    if (step.act === 'watch') return this.#checkWatch(step);
    if (step.act !== 'create' && step.act !== 'replace') return [];
    const { name, request } = step;
    try {
      // Earlier steps create the volumes and rooms.
      const { volumes, rooms: _, ...rest } = request;
      this.#parts.volumes.check(volumes);
      const bound = boundFolders(this.#parts.sandboxes.check(rest));
      return bound.some((folder) => isInside(file, folder)) ? [selfChanging(name)] : [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [problem(error.code, ['sandboxes', name], error.message, error.hint)];
    }
  }

  #checkWatch({ room, name, request }: Extract<PlanStep, { act: 'watch' }>): Problem[] {
    if (request.wake !== undefined || this.#actor.isOwner) return [];
    const message = 'run and webhook act on the machine itself, and are for the owner of the installation';
    return [problem('denied', ['rooms', room, 'watch', name], message, 'Use wake: it acts in a sandbox.')];
  }

  /** The engine is asked once for each image, however many sandboxes are made of it. */
  async #unusableImages(steps: readonly PlanStep[]): Promise<Problem[]> {
    const creating = steps.filter((step) => step.act === 'create' || step.act === 'replace');
    const wanted = creating.flatMap(({ request }) => (request.image ? [request] : []));
    const proofs = new Map(wanted.map(({ image }) => [image!, this.#imageFault(image!)]));
    const found = wanted.map(async ({ name, image }) => {
      const fault = await proofs.get(image!)!;
      return fault === null ? [] : [problem(fault.code, ['sandboxes', name], fault.message, fault.hint)];
    });
    return (await Promise.all(found)).flat();
  }

  #imageFault(image: string): Promise<Fault | null> {
    return this.#parts.images.prove(image).then(
      () => null,
      (error: unknown) => {
        if (isFault(error)) return error;
        throw error;
      },
    );
  }

  async #viewOf(step: PlanStep): Promise<FleetStep> {
    if (step.act === 'init-volumes') return { ...step, volumes: [...step.volumes] };
    if (step.act === 'init-rooms') return { ...step, rooms: [...step.rooms] };
    if (step.act === 'replace')
      return { ...step, differences: [...step.differences], unapplied: await this.#unapplied(step) };
    if (step.act === 'network') return { ...step, allow: [...step.allow], deny: [...step.deny] };
    if (step.act === 'remove') return { ...step, unapplied: await this.#unapplied(step) };
    return step;
  }

  /** Null also for a sandbox that was removed meanwhile; its step then finds it gone. */
  async #unapplied({ name, id }: { readonly name: string; readonly id: string }): Promise<Unapplied | null> {
    const row = await this.#parts.sandboxes.current(name, id).catch((error: unknown) => {
      if (isFault(error, 'not_found')) return null;
      throw error;
    });
    return row && this.#parts.unapplied(row.value);
  }
}

function selfChanging(name: string): Problem {
  const message = `the sandbox ${name} could change this file, and so what the next carrel up does`;
  const hint = 'Move the file out of the project, or choose mode overlay.';
  return problem('denied', ['sandboxes', name, 'mode'], message, hint);
}
