/** Everything that runs in a thread, by name. Arguments and results are plain data. */

import { recover } from '../workspace/apply/recover.ts';
import { cloneRepository, copyTree } from '../workspace/base.ts';
import { keepBases } from '../workspace/change/bases.ts';
import { listChanges } from '../workspace/change/changes.ts';
import { discardChanges } from '../workspace/change/discard.ts';
import { foldIndex } from '../workspace/change/fold-index.ts';
import { readAgentTips } from '../workspace/git/agent-tips.ts';
import { writeDiff, writePatch } from '../workspace/review-job.ts';
import { reopen, settleAgain } from '../workspace/take-over.ts';
import { countChanges, reviewShown, takeOverShown, takeToBranchShown, undoShown } from './thread-views.ts';

export const jobs = {
  copyTree,
  cloneRepository,
  listChanges,
  keepBases,
  readAgentTips,
  discardChanges,
  foldIndex,
  reviewShown,
  countChanges,
  writeDiff,
  writePatch,
  takeOverShown,
  takeToBranchShown,
  settleAgain,
  reopen,
  undoShown,
  recover,
};

export type Jobs = typeof jobs;
