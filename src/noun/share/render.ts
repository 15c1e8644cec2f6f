/** The lines by which programs outside of Carrel mount the folder of a share. Pure. */
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { type Consumer, consumerText, type RenderForm, type Share } from './model.ts';

/** `takenPoints` returns the numbers of the mount points that a guest has already. */
export function render(share: Share, form: RenderForm, takenPoints: (guest: string) => readonly number[]): string {
  const kind = form === 'lxc' ? 'lxc' : 'docker';
  const consumers = share.consumers.filter((one) => one.kind === kind);
  if (consumers.length === 0) throw noConsumer(share, kind);
  if (form === 'compose') return compose(share, consumers);
  const forms = { docker: dockerOptions, lxc: guestLine(takenPoints), coolify };
  return consumers.map((one) => forms[form](share, one)).join('\n');
}

function noConsumer({ name, folder }: Share, kind: string): Fault {
  return new Fault('not_found', `the share ${name} has no consumer ${kind}:NAME`, {
    hint: `Add one first: carrel share add ${name} ${folder} --at ${kind}:NAME=PATH`,
  });
}

/** Options of `docker run`. */
function dockerOptions(share: Share, consumer: Consumer): string {
  const { path, readonly } = consumer;
  const plain = !share.folder.includes(':') && !path.includes(':');
  const mount = plain
    ? ['-v', word(`${share.folder}:${path}${readonly ? ':ro' : ''}`)]
    : [
        '--mount',
        word(
          ['type=bind', field('source', share.folder), field('target', path), ...(readonly ? ['readonly'] : [])].join(
            ',',
          ),
        ),
      ];
  return [...mount, ...(needsGroup(consumer) ? ['--group-add', String(share.groupId)] : [])].join(' ');
}

function needsGroup({ uid }: Consumer): boolean {
  return uid === null;
}

/** Quotes a text as one word of a shell. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a field of the CSV that `--mount` takes. */
function field(key: string, value: string): string {
  return /[",]/.test(value) ? `"${key}=${value.replaceAll('"', '""')}"` : `${key}=${value}`;
}

function compose(share: Share, consumers: readonly Consumer[]): string {
  return ['services:', ...consumers.flatMap((one) => service(share, one))].join('\n');
}

function service({ folder, groupId }: Share, consumer: Consumer): string[] {
  const group = needsGroup(consumer) ? ['    group_add:', `      - "${groupId}"`] : [];
  return [
    `  ${text(consumer.name)}:`,
    ...group,
    '    volumes:',
    ...volume(folder, consumer).map((line) => `      ${line}`),
  ];
}

/** The long form, since a path may have a colon. */
function volume(folder: string, { path, readonly }: Consumer): string[] {
  return ['- type: bind', `  source: ${text(folder)}`, `  target: ${text(path)}`, `  read_only: ${readonly}`];
}

/** JSON is YAML, and Compose reads a dollar sign as the start of a variable. */
function text(value: string): string {
  return JSON.stringify(value.replaceAll('$', '$$$$'));
}

/** A command of Proxmox for a guest with a number, a line of its settings for a guest of plain LXC. */
function guestLine(takenPoints: (guest: string) => readonly number[]) {
  return ({ folder }: Share, { name, path, readonly }: Consumer): string => {
    if (!/^\d+$/.test(name)) return mountEntry(folder, path, readonly);
    const strange = [folder, path].find((one) => /[,=]/.test(one));
    if (strange !== undefined) throw unwritable(strange);
    const point = freePoint(takenPoints(name));
    return `pct set ${name} -mp${point} ${word(`${folder},mp=${path}${readonly ? ',ro=1' : ''}`)}`;
  };
}

function freePoint(taken: readonly number[]): number {
  let point = 0;
  while (taken.includes(point)) point += 1;
  return point;
}

function unwritable(path: string): Fault {
  return new Fault('unsupported', `${printable(path)} cannot be written in the settings of a guest`, {
    hint: 'Share a folder whose path has no comma and no equals sign.',
  });
}

function mountEntry(folder: string, path: string, readonly: boolean): string {
  const escaped = (one: string) =>
    one.replaceAll(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `lxc.mount.entry = ${escaped(folder)} ${escaped(path.slice(1))} none bind,create=dir${readonly ? ',ro' : ''} 0 0`;
}

/** Coolify passes no groups to a container, so one that does not run as root needs its uid named. */
function coolify({ folder }: Share, consumer: Consumer): string {
  const { path, uid } = consumer;
  const note =
    uid === null ? [`# if it does not run as root, name its uid: --at ${consumerText(consumer)}@UID=${path}`] : [];
  return [
    `# ${consumerText(consumer)}: Persistent Storage, Directory Mount`,
    `# Source Path: ${folder}`,
    `# Destination Path: ${path}`,
    ...note,
    '# or in its compose file:',
    'volumes:',
    ...volume(folder, consumer).map((line) => `  ${line}`),
  ].join('\n');
}
