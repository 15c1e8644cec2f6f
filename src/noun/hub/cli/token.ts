/** Makes, lists and revokes tokens for the hub. */

import { resolve } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { writeWhole } from '../../../lib/file/file.ts';
import { canonicalVerb } from '../../../model/command-word.ts';
import { parseDuration } from '../../../model/duration.ts';
import { Fault } from '../../../model/fault.ts';
import type { NewToken, TokenView } from '../api.ts';
import { checkHubTokenId, maxTokenSeconds } from '../model/token.ts';
import { parseGroups, parseProjects } from './grant.ts';

interface Options {
  readonly project?: string;
  readonly tools?: string;
  readonly expires?: string;
  readonly file?: string;
  readonly all?: boolean;
}

export async function hubToken(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [word, ...ids] = args;
  if (word === undefined) return create(context, options);
  const verb = canonicalVerb(word);
  if (options.project ?? options.tools ?? options.expires ?? options.file) throw misused();
  if (verb === 'ls' && ids.length === 0 && !options.all) return list(context);
  if (verb === 'rm' && ids.length > 0 !== (options.all === true)) return remove(context, ids);
  throw misused();
}

async function create(context: Context, { project, tools, expires, file, all }: Options): Promise<void> {
  if (project === undefined || all) throw misused();
  const projects = parseProjects(project);
  const body = {
    projects: projects === '*' ? projects : [...projects],
    ...(tools === undefined ? {} : { groups: parseGroups(tools) }),
    ...(expires === undefined ? {} : { expiresSeconds: secondsOf(expires) }),
  };
  const made = await connect(context).call('POST /v1/hub/tokens', { body });
  if (file !== undefined) return intoFile(context, file, made);
  if (context.json) return context.out.document(made);
  context.out.print(plain(made.token));
  for (const line of ['This token is shown only once.', ...explanation(made)]) context.out.note(line);
}

/** Prints everything but the token, so that others can see the output. */
function intoFile({ json, out }: Context, file: string, made: NewToken): void {
  const { token, ...view } = made;
  writeWhole(resolve(file), `${token}\n`);
  if (json) out.document(view);
  else out.print(plain(view.id));
  for (const line of [`The token is in ${file}; only you can read it.`, ...explanation(made)]) out.note(line);
}

function secondsOf(expires: string): number {
  const seconds = parseDuration(expires, '--expires') / 1000;
  if (seconds <= maxTokenSeconds) return seconds;
  throw new Fault('invalid', `--expires ${expires}: a token is valid for at most ${maxTokenSeconds / 86_400} days`);
}

function explanation({ id, projects, groups, expiresAt }: NewToken): string[] {
  return [
    `Until ${expiresAt} it may use ${groups.join(', ')} in ${projectsText(projects)}.`,
    `Revoke it with: carrel hub token rm ${id}`,
  ];
}

async function list(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/hub/tokens');
  await printAnswer(context, answer, tokenListing, {
    empty: 'no tokens; make one with: carrel hub token --project ID',
  });
}

export function tokenListing(tokens: readonly TokenView[], now = Date.now()): string[] {
  const rows = tokens.map(({ id, projects, groups, expiresAt, usedAt }) => [
    plain(id),
    plain(projectsText(projects)),
    groups.join(','),
    Date.parse(expiresAt) > now ? expiresAt : 'expired',
    usedAt === null ? 'never' : `${age(usedAt, now)} ago`,
  ]);
  return table([['ID', 'PROJECTS', 'TOOLS', 'EXPIRES', 'LAST USED'], ...rows]);
}

async function remove(context: Context, ids: readonly string[]): Promise<void> {
  const client = connect(context);
  const removed: TokenView[] = [];
  if (ids.length === 0) removed.push(...(await client.call('DELETE /v1/hub/tokens')));
  for (const name of ids.map(checkHubTokenId))
    removed.push(await client.call('DELETE /v1/hub/tokens/{name}', { path: { name } }));
  if (context.json) return context.out.document(removed);
  context.out.print(...removed.map(({ id }) => plain(id)));
}

function projectsText(projects: TokenView['projects']): string {
  return projects === '*' ? 'all projects' : projects.join(',');
}

function misused(): Fault {
  return new Fault('invalid', 'hub token takes --project, or ls, or rm with the ids of tokens or --all', {
    hint: 'carrel help hub token',
  });
}
