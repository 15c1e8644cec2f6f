import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { asFault, faultTable, isFault } from '../../../model/fault.ts';
import { problemLine, type TaskProblem } from '../model/task-problem.ts';
import { noTasks } from './task.ts';

interface Verdict {
  readonly file: string;
  readonly valid: boolean;
  readonly stories: number | null;
  readonly problems: readonly TaskProblem[];
}

export async function taskValidate(context: Context, { args }: Invocation): Promise<number> {
  const client = connect(context);
  const verdicts = args.length === 0 ? await verdictsHere(client) : await verdictsOf(args, client);
  if (context.json) context.out.document(verdicts);
  else for (const verdict of verdicts) context.out.print(...lines(verdict));
  return verdicts.every(({ valid }) => valid) ? 0 : faultTable.invalid.exit;
}

async function verdictsHere(client: Client): Promise<Verdict[]> {
  const project = absolute('.', 'PROJECT');
  const files = await client.call('GET /v1/tasks', { query: { project } });
  if (files.length === 0) throw noTasks(project);
  return files.map(({ file, progress, problems }) => ({
    file,
    valid: problems.length === 0,
    stories: progress?.total ?? null,
    problems,
  }));
}

function verdictsOf(files: readonly string[], client: Client): Promise<Verdict[]> {
  return Promise.all(
    files.map(async (file) => {
      try {
        const task = await client.call('GET /v1/tasks/file', { query: { file: absolute(file, 'FILE') } });
        return { file, valid: true, stories: task.stories.length, problems: [] };
      } catch (error) {
        if (!isFault(error, 'invalid')) throw error;
        const problems = asFault(error).data?.problems as readonly TaskProblem[] | undefined;
        if (problems === undefined) throw error;
        return { file, valid: false, stories: null, problems };
      }
    }),
  );
}

function lines({ file, stories, problems }: Verdict): string[] {
  if (problems.length === 0) return [`${plain(file)}: ok, ${stories === 1 ? '1 story' : `${stories} stories`}`];
  return problems.map((problem) => plain(problemLine(file, problem)));
}
