/** Diagnostics of a file. */

import { Fault } from '../../../../model/fault.ts';
import { type CodePage, type CodeProblem, type OfFile, severities } from '../../model/code.ts';
import type { CodeCall } from '../inside.ts';
import { listOf, resultOf } from '../lsp/answer/answer.ts';
import { diagnostic } from '../lsp/answer/diagnostic.ts';
import { answerOf, optionsOf, pageOf, rangeOf } from './position.ts';

const maxMessageLength = 4000;

export async function diagnose(_root: string, asked: OfFile, call: CodeCall): Promise<CodePage<CodeProblem>> {
  const answer = await call.servers.diagnose(asked.path, optionsOf(asked, call));
  // A missing list does not mean that the server found nothing.
  if (answer.status !== 'timed_out' && !Array.isArray(answer.result)) {
    throw new Fault('internal', `the language server ${answer.server} sent no diagnostics`);
  }
  const problems = resultOf(answer, listOf(diagnostic)).map(({ range, severity, message, ...rest }) => ({
    ...rangeOf(asked.path, range),
    ...rest,
    severity: severities[severity - 1]!,
    message: message.slice(0, maxMessageLength),
  }));
  return { ...answerOf(answer), ...pageOf(problems, asked) };
}
