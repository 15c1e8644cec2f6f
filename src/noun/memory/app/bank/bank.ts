/**
 * The memory bank of a user: routes that read its history and restore earlier versions. Sandboxes use it as files and by
 * tools (`sandbox-bank.ts`); plain writes are noticed by scans (`live-banks.ts`). A restore makes an earlier version the
 * newest and removes none. The rules are in `docs/formats/memory-bank.md`.
 */
import { z } from 'zod';
import type { ProbeRow } from '../../../../kernel/engine/engine.ts';
import { declare } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/bank.ts';
import type { UserBank } from './user-bank.ts';

export interface BankScopeParts {
  readonly bank: UserBank;
}

const { noun, route } = declare<BankScopeParts>();

export const bank = noun({
  routes: [
    route('GET /v1/memory/bank/log', {
      id: 'memoryBankLog',
      summary: 'Versions of files of the memory bank from the newest, with their writers',
      query: shape.bankLogQuery,
      answer: z.array(shape.bankVersionView),
      act: null,
      handle: ({ scope, query }) => scope.bank.log(query),
    }),
    route('POST /v1/memory/bank/restore', {
      id: 'restoreMemoryBank',
      summary: 'Make an earlier version of a file of the memory bank the newest',
      body: shape.bankRestoreRequest,
      answer: shape.bankVersionView,
      act: ({ body: { path, version } }) => ({
        verb: 'memory.bank.restore',
        names: [],
        words: { 'the file': [path] },
        detail: { path, version },
      }),
      handle: ({ scope, body }) => scope.bank.restore(body),
    }),
  ],
  examine: async ({ bank: found }) => found.damaged().map(damagedRow),
});

function damagedRow(path: string): ProbeRow {
  return {
    ...{ name: 'memory bank', level: 'warning', detail: `a damaged history was set aside: ${path}` },
    hint: `Recover it with sqlite3 ${path} .recover, or move it away. The files of the bank were not touched.`,
  };
}
