/** Everything that runs in a thread, by name. Arguments and results are plain data. */

import { recover, undoApply } from '../workspace/apply/commit.ts';
import { cloneRepository, copyTree } from '../workspace/base.ts';
import { keepBases } from '../workspace/change/bases.ts';
import { listChanges } from '../workspace/change/changes.ts';
import { discardChanges } from '../workspace/change/discard.ts';
import { foldIndex } from '../workspace/change/fold-index.ts';
import { readAgentTips } from '../workspace/git/agent-tips.ts';
import { review, writeDiff, writePatch } from '../workspace/review-job.ts';
import { reopen, settleAgain, takeOver } from '../workspace/take-over.ts';
import { takeToBranch } from '../workspace/take-to-branch.ts';

export const jobs = {
  copyTree,
  cloneRepository,
  listChanges,
  keepBases,
  readAgentTips,
  discardChanges,
  foldIndex,
  review,
  writeDiff,
  writePatch,
  takeOver,
  takeToBranch,
  settleAgain,
  reopen,
  undoApply,
  recover,
};

export type Jobs = typeof jobs;
