/**
 * Sandboxes, as users have them: create, start, stop, remove, output, exec, attach.
 *
 * Life cycle: a request is resolved and checked (`spec.ts`) → recorded and launched in one turn of the reconciler → runs →
 * ends → is started again, any number of times → removed with its data. `stop`, `start` and `rm` only write the spec; the
 * reconciler does the rest (`noun/sandbox/reconcile/reconcile.ts`), also when this daemon is killed meanwhile.
 *
 * Promises:
 * - A sandbox whose first start fails leaves no record; the fault is the answer.
 * - A sandbox that runs, or whose changes or commits are not on the host, is removed only if the request says so.
 * - The output of earlier starts is kept, up to a limit (`earlier-output.ts`). The command of a sandbox goes on when its
 *   clients go away.
 * - Reading waits for no engine that does not answer: the answer is then the recorded state, and says so.
 *
 * Faults: `conflict` (the name is taken, or the wrong state), `exhausted` (too many sandboxes, disk full), `denied` (a
 * folder or image that this user may not use), `unsupported` (the engine cannot provide what was asked for).
 */
import { z } from 'zod';
import type { LogLine, LogOptions } from '../../../kernel/engine/engine.ts';
import { declare, definedDetail, namedSandbox } from '../../../kernel/server/route.ts';
import type { Work } from '../../../lib/flow/work.ts';
import { count, flag } from '../../../lib/schema/query.ts';
import { encodeFrame } from '../../../lib/wire/stream.ts';
import type { Actor } from '../../../model/user.ts';
import { requireOwner } from '../../../model/user.ts';
import * as shape from '../api.ts';
import type { Sandbox } from '../model.ts';
import type { Sandboxes } from '../sandbox.ts';
import { type AttachScope, attach } from './attach.ts';
import { sandboxConfig } from './config.ts';
import { type ExecScope, exec } from './exec.ts';
import { type LeftoverScope, leftoversRow } from './leftovers.ts';
import { gathered } from './output.ts';
import { recoverSandboxes, type SandboxRecovery } from './recover.ts';

export interface SandboxScope extends AttachScope, ExecScope, SandboxRecovery, LeftoverScope {
  readonly sandboxes: Sandboxes;
  /** The sandboxes of a user for whom the actor may act. */
  sandboxesFor(actor: Actor, user: string | undefined): Sandboxes;
  /** The output of a sandbox, earlier starts included. */
  output(sandbox: Sandbox, options: LogOptions): AsyncIterable<LogLine>;
  readonly work: Work;
}

const { noun, route } = declare<SandboxScope>();

export const sandbox = noun({
  config: sandboxConfig,
  routes: [
    route('GET /v1/sandboxes', {
      id: 'listSandboxes',
      summary: 'The sandboxes of the user; with `allUsers` those of all users, for the owner',
      query: z.strictObject({ allUsers: flag.optional() }),
      answer: z.array(shape.sandboxView),
      act: null,
      handle: ({ actor, scope, query }) => {
        if (query.allUsers) requireOwner(actor);
        return scope.sandboxes.listJson(query.allUsers ?? false);
      },
    }),
    route('POST /v1/sandboxes', {
      id: 'createSandbox',
      summary: 'Create a sandbox and start it',
      body: shape.sandboxRequest,
      answer: shape.sandboxView,
      usesSettings: true,
      act: ({ body }) => ({
        verb: 'sandbox.create',
        ofSandboxes: true,
        names: body.name === undefined ? [] : [body.name],
        detail: definedDetail(shape.auditedFields(body)),
        as: body.user,
      }),
      done: ({ name, id }) => ({ targets: [{ name, id }] }),
      handle: ({ actor, scope, body }) => scope.sandboxesFor(actor, body.user).create(body),
    }),
    route('GET /v1/sandboxes/{name}', {
      id: 'showSandbox',
      summary: 'One sandbox',
      answer: shape.sandboxView,
      act: null,
      handle: ({ scope, name }) => scope.sandboxes.show(name),
    }),
    route('DELETE /v1/sandboxes/{name}', {
      id: 'removeSandbox',
      summary:
        'Remove a sandbox; a running one only with `running` or `force`; with `staleMs` only one that ended at least that long ago',
      query: z.strictObject({
        force: flag.optional(),
        running: flag.optional(),
        staleMs: count.optional(),
        dryRun: flag.optional(),
        id: shape.sandboxId.optional(),
      }),
      answer: shape.sandboxView,
      act: ({ name, query: { force = false, dryRun } }) =>
        dryRun ? null : { verb: 'sandbox.remove', ofSandboxes: true, names: [name], detail: { force }, frees: true },
      handle: ({ scope, name, query }) => scope.sandboxes.remove(name, query),
    }),
    route('POST /v1/sandboxes/{name}/start', {
      id: 'startSandbox',
      summary: 'Start a sandbox that has ended',
      answer: shape.sandboxView,
      usesSettings: true,
      act: namedSandbox('sandbox.start'),
      handle: ({ scope, name }) => scope.sandboxes.start(name),
    }),
    route('POST /v1/sandboxes/{name}/stop', {
      id: 'stopSandbox',
      summary: 'Stop a sandbox: SIGTERM, then SIGKILL after the grace time',
      body: z.strictObject({
        graceMs: z.int().min(0).max(86_400_000, 'more than a day').optional(),
        id: shape.sandboxId.optional(),
      }),
      answer: shape.sandboxView,
      act: ({ name, body: { graceMs } }) => ({
        ...{ verb: 'sandbox.stop', ofSandboxes: true, names: [name], frees: true },
        detail: definedDetail({ graceMs }),
      }),
      handle: ({ scope, name, body }) => scope.sandboxes.stop(name, body.graceMs, body.id),
    }),
    route('GET /v1/sandboxes/{name}/wait', {
      id: 'waitSandbox',
      summary: 'Wait until the sandbox has ended',
      answer: shape.sandboxView,
      act: null,
      handle: ({ scope, name, signal: gone }) => scope.work.wait(gone, (signal) => scope.sandboxes.wait(name, signal)),
    }),
    route('GET /v1/sandboxes/{name}/logs', {
      id: 'sandboxLogs',
      summary: 'The output of its command, in frames; with `lastStart` without that of earlier starts',
      query: z.strictObject({ follow: flag.optional(), tail: count.optional(), lastStart: flag.optional() }),
      answer: 'frames',
      act: null,
      handle: async ({ scope, name, query: { follow = false, tail = null, lastStart = false }, signal }) => {
        const { value } = (await scope.sandboxes.seen(name)).row;
        return async (write) => {
          const options = { follow, tail, signal };
          const lines = lastStart ? scope.engineOf(value).logs(value.id, options) : scope.output(value, options);
          for await (const { stream, bytes } of gathered(lines)) {
            await write(encodeFrame(stream, bytes));
          }
          return undefined;
        };
      },
    }),
    route('GET /v1/stats', {
      id: 'sandboxStats',
      summary: 'CPU time, memory and processes of running sandboxes',
      answer: z.array(shape.statsView),
      act: null,
      handle: ({ scope }) => scope.sandboxes.stats(),
    }),
    route('GET /v1/sandboxes/{name}/attach', {
      id: 'attachSandbox',
      summary: 'Attach to stdin, stdout and stderr of its command',
      answer: 'upgrade',
      act: namedSandbox('sandbox.attach'),
      handle: attach,
    }),
    route('POST /v1/sandboxes/{name}/exec', {
      id: 'execSandbox',
      summary: 'Run a command inside; the first frame from the client is the request',
      body: shape.execRequest,
      answer: 'upgrade',
      act: namedSandbox('sandbox.exec'),
      handle: exec,
    }),
  ],
  recover: recoverSandboxes,
  examine: async (scope) => [await leftoversRow(scope)],
});
