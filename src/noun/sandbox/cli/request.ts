/** Turns the options of `run` and `create` into the request to the daemon. */

import { statSync } from 'node:fs';
import { authorIn } from '../../../client/author.ts';
import { type EnvOptions, envFrom } from '../../../client/env.ts';
import { naming, parseCount, parseNumber, parsePairs } from '../../../client/option.ts';
import { absolute } from '../../../client/paths.ts';
import type { EngineName, RuntimeName } from '../../../model/engine.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { parseSize } from '../../../model/size.ts';
import { grantTable, type RequestedGrants } from '../../grant-table.ts';
import { bankRequest } from '../../memory/model/bank.ts';
import { checkCredentialName } from '../../network/model/credential.ts';
import { usableRule } from '../../network/model/network.ts';
import { parsePublished } from '../../network/model/published.ts';
import { checkServiceName } from '../../network/model/service.ts';
import { checkSecretName } from '../../user/model.ts';
import type { SandboxRequest } from '../api.ts';
import type { WorkspaceMode } from '../model.ts';
import { type StreamChoice, type StreamOptions, terminalEnv } from './stream/stream-options.ts';

export interface SandboxOptions extends StreamOptions, EnvOptions, GrantOptions {
  readonly name?: string;
  readonly engine?: EngineName;
  readonly image?: string;
  readonly runtime?: RuntimeName;
  readonly mode?: WorkspaceMode;
  readonly base?: 'live' | 'frozen';
  readonly cpus?: string;
  readonly memory?: string;
  readonly swap?: string;
  readonly pids?: string;
  readonly disk?: string;
  readonly strict?: boolean;
  readonly secret?: readonly string[];
  readonly credential?: readonly string[];
  readonly service?: readonly string[];
  readonly network?: string;
  readonly publish?: readonly string[];
  readonly cwd?: string;
  readonly rootfs?: string;
  readonly label?: readonly string[];
  /** Not an option: `carrel home shell` sets it. */
  readonly home?: 'shared';
  readonly rm?: boolean;
  readonly detach?: boolean;
}

export function sandboxRequest(
  options: SandboxOptions,
  project: string | undefined,
  command: readonly string[],
): SandboxRequest {
  const { name, engine, runtime, image, secret, credential, service, label, rootfs } = options;
  const env = envFrom(options);
  return {
    ...(name === undefined ? {} : { name: checkSandboxName(name) }),
    ...(engine === undefined ? {} : { engine }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(project === undefined ? {} : seenProject(absolute(project, 'PROJECT'))),
    mode: options.mode ?? (project === undefined ? 'none' : 'overlay'),
    ...(options.base === undefined ? {} : { base: options.base }),
    command: [...command],
    ...(env === undefined ? {} : { env }),
    ...(secret === undefined ? {} : { secrets: [...new Set(secret.map(checkSecretName))] }),
    ...(credential === undefined ? {} : { credentials: [...new Set(credential.map(checkCredentialName))] }),
    ...servicesFrom(service),
    ...grantsFrom(options),
    ...(options.network === undefined ? {} : { network: networkFrom(options.network) }),
    ...(options.publish === undefined ? {} : { ports: options.publish.map(parsePublished) }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    limits: limitsFrom(options),
    ...(options.strict ? { strict: true } : {}),
    ...(image === undefined ? {} : { image }),
    ...(rootfs === undefined ? {} : { rootfs: absolute(rootfs, '--rootfs') }),
    ...(label === undefined ? {} : { labels: parsePairs(label, '--label') }),
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.rm ? { autoRemove: true } : {}),
  };
}

/** Adds stdin and the terminal. Variables that the user set override those of the terminal. */
export function withStreams(body: SandboxRequest, streams: StreamChoice): SandboxRequest {
  if (streams.terminal === null) return { ...body, stdin: streams.stdin };
  return { ...body, stdin: streams.stdin, terminal: streams.terminal, env: { ...terminalEnv(streams), ...body.env } };
}

/** Adds the author for commits inside: the one that git has configured here, if any. */
export async function withAuthor(body: SandboxRequest): Promise<SandboxRequest> {
  const author = await authorIn(body.project ?? process.cwd());
  return author ? { ...body, author } : body;
}

/** Adds the identity of the folder as this command sees it: the daemon may not see mounts made after its start. */
export function seenProject(project: string): Pick<SandboxRequest, 'project' | 'projectSeen'> {
  try {
    const { dev, ino } = statSync(project, { bigint: true });
    return { project, projectSeen: `${dev}:${ino}` };
  } catch {
    // The daemon reports a missing or unreadable project, ignoring.
    return { project };
  }
}

/** The options of `grant-options.ts`; all but `memoryBank` have lists of texts. */
export interface GrantOptions {
  readonly memoryBank?: boolean;
  readonly [option: string]: unknown;
}

/** The fields that the grant options fill, for all commands that create sandboxes. */
export function grantsFrom(options: GrantOptions): RequestedGrants {
  const lists = grantTable.flatMap(([field, { option, parse, distinct }]) => {
    const texts = options[optionName(option.flags)] as readonly string[] | undefined;
    const values = texts?.map(parse);
    return values === undefined ? [] : [[field, distinct?.(values) ?? values]];
  });
  const grants = Object.fromEntries(lists) as RequestedGrants;
  return options.memoryBank ? { ...grants, volumes: [...(grants.volumes ?? []), bankRequest(false)] } : grants;
}

function optionName(flags: string): string {
  return /--([a-z-]+)/.exec(flags)![1]!.replaceAll(/-./g, ([, letter]) => letter!.toUpperCase());
}

export function servicesFrom(names: readonly string[] | undefined): Pick<SandboxRequest, 'services'> {
  return names === undefined ? {} : { services: [...new Set(names.map(checkServiceName))] };
}

export function networkFrom(text: string): NonNullable<SandboxRequest['network']> {
  if (text === 'none') return 'none';
  const rules = text.split(',').map((rule) => rule.trim());
  return rules.map((rule) => naming('--network', () => usableRule(rule, rules)));
}

function limitsFrom({ cpus, memory, swap, pids, disk }: SandboxOptions): NonNullable<SandboxRequest['limits']> {
  return {
    ...(cpus === undefined ? {} : { cpus: parseNumber(cpus, '--cpus') }),
    ...(memory === undefined ? {} : { memoryBytes: parseSize(memory, '--memory') }),
    ...(swap === undefined ? {} : { swapBytes: parseSize(swap, '--swap') }),
    ...(pids === undefined ? {} : { pids: parseCount(pids, '--pids') }),
    ...(disk === undefined ? {} : { diskBytes: parseSize(disk, '--disk') }),
  };
}
