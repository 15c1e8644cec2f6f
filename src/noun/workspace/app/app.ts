/**
 * The working copies of sandboxes: review, apply, undo, snapshots, forks.
 *
 * Life cycle of a change: the agent makes it → its base is recorded (`base-watch.ts`) → it is reviewed (`reviews.ts`) →
 * applied to the project or discarded → an apply is undone, or not. Commits of the agent become refs of the project's
 * repository (`commits.ts`). A snapshot is taken, restored, removed; it goes with its sandbox.
 *
 * Promises:
 * - Only `apply` and `undo` write files of the project: everything or nothing, and never over edits of the owner. What is
 *   gated needs the owner's permission.
 * - There is one apply at a time per project. One that writes files is recorded before it begins, and the next daemon
 *   finishes it or drops it; one to a branch is a single change of a ref.
 * - Sandboxes are paused while their changes are applied or a snapshot is taken, and have to have ended for `restore` and
 *   `discard`. Both of these take a snapshot of the present state first.
 * - A fork is a new, stopped sandbox with a copy of the state.
 */
import { z } from 'zod';
import type { Home } from '../../../kernel/home/home.ts';
import { declare, definedDetail, type Frames, namedSandbox } from '../../../kernel/server/route.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { sweepScratch } from '../../../lib/file/scratch.ts';
import type { Work } from '../../../lib/flow/work.ts';
import { encodeFrame } from '../../../lib/wire/stream.ts';
import type { Fault } from '../../../model/fault.ts';
import { sandboxView } from '../../sandbox/api.ts';
import * as shape from '../api.ts';
import type { AgentCommits } from './agent-commits.ts';
import type { Applies } from './applies.ts';
import { forgetApplies } from './apply-journal.ts';
import { editedIn } from './apply-order.ts';
import type { Reviews } from './reviews.ts';
import type { Snapshots } from './snapshots.ts';
import { sweepFolders } from './sweep.ts';

export interface WorkspaceScope {
  readonly home: Home;
  readonly store: Store;
  readonly now: () => string;
  readonly report: (id: string, fault: Fault) => void;
  readonly reviews: Reviews;
  readonly applies: Applies;
  readonly agentCommits: AgentCommits;
  readonly snapshots: Snapshots;
  /** Work that a shutdown waits for. */
  readonly work: Work;
}

const { noun, route } = declare<WorkspaceScope>();

export const workspace = noun({
  routes: [
    route('GET /v1/sizes', {
      id: 'sandboxSizes',
      summary: 'The disk space of sandboxes, snapshots included',
      answer: z.array(shape.sizeView),
      act: null,
      handle: ({ scope }) => scope.snapshots.sizes(),
    }),
    route('POST /v1/sandboxes/{name}/changes', {
      id: 'listChanges',
      summary: 'The changes of a workspace, or of a snapshot; or the difference to another workspace',
      body: shape.compareRequest,
      answer: shape.changesView,
      act: null,
      handle: ({ scope, name, body, signal }) => scope.reviews.changes(name, body, signal),
    }),
    route('POST /v1/sandboxes/{name}/diff', {
      id: 'diffSandbox',
      summary: 'The changes of a workspace as a unified diff, in frames',
      body: shape.compareRequest,
      answer: 'frames',
      act: null,
      handle: ({ scope, name, body, signal }) => outputFrames(() => scope.reviews.diff(name, body, signal)),
    }),
    route('POST /v1/sandboxes/{name}/offer', {
      id: 'offerChanges',
      summary: 'The changes of a workspace, file by file, for an apply that takes parts of them',
      body: shape.pathsRequest,
      answer: shape.offerView,
      act: null,
      handle: ({ scope, name, body, signal }) => scope.reviews.offer(name, body, signal),
    }),
    route('POST /v1/sandboxes/{name}/patch', {
      id: 'patchSandbox',
      summary: 'The changes of a workspace as a mail for `git am`, in frames',
      body: shape.pathsRequest.extend({ message: z.string().min(1).max(65_536).optional() }),
      answer: 'frames',
      act: null,
      handle: ({ scope, name, body, signal }) => {
        const order = { ...body, message: body.message };
        return outputFrames((warn) => scope.reviews.patch(name, order, warn, signal));
      },
    }),
    route('POST /v1/sandboxes/{name}/fetch', {
      id: 'fetchCommits',
      summary: 'Fetch the commits of the agent into the repository of the project, under `refs/carrel/NAME`',
      answer: shape.fetchView,
      act: namedSandbox('sandbox.fetch'),
      handle: ({ scope, name }) => scope.work.run(() => scope.agentCommits.fetch(name)),
    }),
    route('POST /v1/sandboxes/{name}/log', {
      id: 'logCommits',
      summary: 'Fetch the commits of the agent and list those that no ref of the project has',
      body: shape.logRequest,
      answer: shape.logView,
      act: namedSandbox('sandbox.fetch'),
      handle: ({ scope, name, body }) => scope.work.run(() => scope.agentCommits.log(name, body.max ?? 1000)),
    }),
    route('POST /v1/apply', {
      id: 'apply',
      summary: 'Apply changes to the project, all or none; with `dryRun` only say what would happen',
      body: shape.applyRequest,
      answer: shape.applyView,
      act: ({ body: { names, dryRun, branch, message, author, allow, always, ask, pick } }) => {
        if (ask !== undefined) return { verb: 'project.ask', names, detail: { kinds: ask } };
        const words = { '--branch': [branch], '--message': [message], 'the author': [author?.name, author?.email] };
        return dryRun
          ? null
          : {
              verb: 'sandbox.apply',
              ofSandboxes: true,
              names,
              words,
              detail: definedDetail({ allow, always, edited: editedIn(pick) }),
            };
      },
      done: ({ apply, blocked, branch }) => ({
        detail: definedDetail({ apply, blocked, branch: branch?.name, commit: branch?.commit }),
      }),
      handle: ({ scope, body }) => scope.work.run(() => scope.applies.apply(body)),
    }),
    route('POST /v1/sandboxes/{name}/undo', {
      id: 'undoApply',
      summary: 'Undo the last apply of a sandbox',
      answer: shape.undoView,
      act: namedSandbox('sandbox.undo'),
      done: ({ apply }) => ({ detail: { apply } }),
      handle: ({ scope, name }) => scope.work.run(() => scope.applies.undo(name)),
    }),
    route('POST /v1/sandboxes/{name}/discard', {
      id: 'discardChanges',
      summary: 'Discard changes; a snapshot is taken first',
      body: shape.pathsRequest.omit({ ignored: true }),
      answer: shape.discardView,
      act: namedSandbox('sandbox.discard'),
      handle: ({ scope, name, body }) => scope.work.run(() => scope.snapshots.discard(name, body.paths)),
    }),
    route('GET /v1/sandboxes/{name}/snapshots', {
      id: 'listSnapshots',
      summary: 'The snapshots of a sandbox, oldest first',
      answer: z.array(shape.snapshotView),
      act: null,
      handle: ({ scope, name }) => scope.snapshots.list(name),
    }),
    route('POST /v1/sandboxes/{name}/snapshots', {
      id: 'takeSnapshot',
      summary: 'Take a snapshot of workspace, home and data',
      body: shape.snapshotRequest,
      answer: shape.snapshotView,
      act: ({ name, body }) => ({
        verb: 'sandbox.snapshot',
        ofSandboxes: true,
        names: [name],
        words: { 'the label': [body.label] },
      }),
      done: ({ id }) => ({ detail: { snapshot: id } }),
      handle: ({ scope, name, body }) => scope.work.run(() => scope.snapshots.take(name, body.label ?? null)),
    }),
    route('DELETE /v1/sandboxes/{name}/snapshots/{snapshot}', {
      id: 'removeSnapshot',
      summary: 'Remove a snapshot',
      answer: shape.snapshotView,
      act: ({ name, path }) => ({
        verb: 'sandbox.snapshot_remove',
        ofSandboxes: true,
        names: [name],
        detail: { snapshot: path.snapshot },
        frees: true,
      }),
      handle: ({ scope, name, path }) => scope.work.run(() => scope.snapshots.remove(name, path.snapshot)),
    }),
    route('POST /v1/sandboxes/{name}/restore', {
      id: 'restoreSnapshot',
      summary: 'Restore a snapshot; a snapshot of the present state is taken first',
      body: shape.restoreRequest,
      answer: shape.restoreView,
      act: ({ name, body }) => ({
        verb: 'sandbox.restore',
        ofSandboxes: true,
        names: [name],
        detail: { snapshot: body.snapshot },
      }),
      handle: ({ scope, name, body }) => scope.work.run(() => scope.snapshots.restore(name, body.snapshot)),
    }),
    route('POST /v1/sandboxes/{name}/fork', {
      id: 'forkSandbox',
      summary: 'Create stopped sandboxes with a copy of the state of this one',
      body: shape.forkRequest,
      answer: z.array(sandboxView),
      usesSettings: true,
      act: ({ name, body }) => ({
        verb: 'sandbox.fork',
        ofSandboxes: true,
        names: [name],
        words: { 'the name': body.names ?? [] },
      }),
      done: (forks) => ({ detail: { forks: forks.map(({ name }) => name) } }),
      handle: ({ scope, name, body }) => scope.work.run(() => scope.snapshots.fork(name, body.names, body.command)),
    }),
  ],
  recover: recoverWorkspaces,
});

/** The output of git in frames. It waits for the first bytes: an error before them is an ordinary refusal. */
async function outputFrames(produce: (warn: (text: string) => void) => AsyncGenerator<Buffer>): Promise<Frames> {
  const warnings: string[] = [];
  const chunks = produce((text) => void warnings.push(text));
  const first = await chunks.next();
  return async (write) => {
    for (const text of warnings) await write(encodeFrame('stderr', Buffer.from(`${text}\n`)));
    if (!first.done) await write(encodeFrame('stdout', first.value));
    for await (const chunk of chunks) await write(encodeFrame('stdout', chunk));
    return undefined;
  };
}

/** Finishes or removes what an earlier daemon left of working copies. */
async function recoverWorkspaces({ home, store, applies, now, report }: WorkspaceScope): Promise<void> {
  await sweepScratch(home.installation);
  await sweepFolders(home, (id) => store.get('sandbox', id) !== null);
  await applies.recover(report);
  await forgetApplies({ store, home, now });
}
