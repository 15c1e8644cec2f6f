/** All jobs that run in a thread, by name. Arguments and results are plain data. */

import { detectAt } from './image/detect.ts';
import { writeStateFile } from './swarm/task/state-file.ts';
import {
  countChanges,
  countChangesAt,
  discardShown,
  offerShown,
  reviewShown,
  takeOverShown,
  takeToBranchShown,
  undoShown,
} from './workspace/app/thread-views.ts';
import { recover } from './workspace/apply/recover.ts';
import { cloneRepository, copyTree } from './workspace/base.ts';
import { keepBases } from './workspace/change/base/base.ts';
import { foldIndex } from './workspace/change/overlay/fold-index.ts';
import { readAgentTips } from './workspace/git/bundle/agent-tips.ts';
import { writeDiff, writePatch } from './workspace/review-job.ts';
import { adoptAfterCrash, restoreListedChanges } from './workspace/take-over.ts';

export const jobs = {
  copyTree,
  cloneRepository,
  keepBases,
  readAgentTips,
  discardShown,
  foldIndex,
  reviewShown,
  offerShown,
  countChanges,
  countChangesAt,
  writeDiff,
  writePatch,
  takeOverShown,
  takeToBranchShown,
  adoptAfterCrash,
  restoreListedChanges,
  undoShown,
  recover,
  detectAt,
  writeStateFile,
};

export type Jobs = typeof jobs;
