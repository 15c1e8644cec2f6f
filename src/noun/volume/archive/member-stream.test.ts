import { describe, expect, it } from 'vitest';
import { asFault } from '../../../model/fault.ts';
import { makeHeader, padded } from './member.ts';
import { MemberRule, maxPathBytes } from './member-rule.ts';
import { judged } from './member-stream.ts';

interface Entry {
  readonly name: string;
  readonly type?: string;
  readonly link?: string;
  readonly content?: string;
  readonly device?: string;
  readonly records?: Readonly<Record<string, string>>;
}

function sealed(block: Buffer): Buffer {
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function header(name: string, type: string, size: number, link = '', device = ''): Buffer {
  const block = makeHeader(name.slice(0, 100), size, new Date(0));
  block.write(type, 156);
  block.write(link, 157);
  const [major, minor] = device.split(':');
  if (minor !== undefined) block.write(`${major!.padStart(7, '0')}\0${minor.padStart(7, '0')}\0`, 329);
  return sealed(block);
}

function content(text: string): Buffer {
  const bytes = Buffer.alloc(padded(text.length));
  bytes.write(text, 'latin1');
  return bytes;
}

function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const digits = String(rest.length + String(rest.length + 2).length).length;
  return `${rest.length + digits}${rest}`;
}

function entry({ name, type = '0', link, content: text = '', device, records }: Entry): Buffer {
  const body = Object.entries(records ?? {})
    .map(([key, value]) => record(key, value))
    .join('');
  const extended = records ? [header('x', 'x', body.length), content(body)] : [];
  return Buffer.concat([...extended, header(name, type, text.length, link, device), content(text)]);
}

const end = Buffer.alloc(1024);

async function passed(archive: Buffer, chunk = 700): Promise<{ bytes: Buffer; leftOut: string[] }> {
  const rule = new MemberRule();
  const chunks: Buffer[] = [];
  async function* source() {
    for (let at = 0; at < archive.length; at += chunk) yield archive.subarray(at, at + chunk);
  }
  for await (const one of judged(source(), rule)) chunks.push(one);
  return { bytes: Buffer.concat(chunks), leftOut: [...rule.leftOut] };
}

async function codeOf(...entries: Entry[]): Promise<string> {
  return passed(Buffer.concat([...entries.map(entry), end])).then(
    () => 'taken',
    (error: unknown) => asFault(error).code,
  );
}

const long = `${'d/'.repeat(maxPathBytes / 2)}end`;

describe('an archive', () => {
  it.each([1, 100, 512, 700, 100_000])('passes unchanged, in chunks of %i', async (chunk) => {
    const entries = [
      { name: './', type: '5' },
      { name: './a', content: 'hello' },
      { name: './l', type: '2', link: '/etc/passwd' },
      { name: './h', type: '1', link: './a' },
      {
        name: './x',
        records: { path: './odd\nname', 'SCHILY.xattr.user.k': '\u00ff\u0000' },
        content: 'x'.repeat(600),
      },
    ];
    const archive = Buffer.concat([...entries.map(entry), end]);
    expect((await passed(archive, chunk)).bytes.equals(archive)).toBe(true);
  });

  it('passes without pipes, marks of deleted files, too long paths, and hard links to these', async () => {
    const [before, after] = [entry({ name: './a', content: 'a' }), entry({ name: './z', content: 'z' })];
    const dropped = [
      { name: './pipe', type: '6' },
      { name: './pipe-too', type: '1', link: './pipe' },
      { name: './mark', type: '3', device: '0:0' },
      { name: './long', records: { path: `./${long}` }, content: 'deep' },
    ];
    const { bytes, leftOut } = await passed(Buffer.concat([before, ...dropped.map(entry), after, end]));
    expect(bytes.equals(Buffer.concat([before, after, end]))).toBe(true);
    expect(leftOut).toEqual(['pipe', 'pipe-too', 'mark', long]);
  });

  it.each<[string, Entry[]]>([
    ['absolute', [{ name: '/etc/x' }]],
    ['absolute by record', [{ name: './a', records: { path: '/etc/x' } }]],
    ['..', [{ name: '../x' }]],
    ['.. inside', [{ name: './a/../../x' }]],
    [
      '.. by the name of a sparse file',
      [{ name: './a', records: { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.name': '../x' } }],
    ],
    ['an empty part', [{ name: './a//b' }]],
    ['no name', [{ name: '' }]],
    ['a file that looks like a folder', [{ name: './a/', content: 'x' }]],
    ['a link in place of all', [{ name: './', type: '2', link: '/etc' }]],
    ['through a link', [{ name: './l', type: '2', link: '/etc' }, { name: './l/x' }]],
    [
      'through a link, deeper',
      [
        { name: './l', type: '2', link: '.' },
        { name: './l/a/x', type: '5' },
      ],
    ],
    [
      'through a link to a link',
      [{ name: './l', type: '2', link: '/etc' }, { name: './m', type: '1', link: './l' }, { name: './m/x' }],
    ],
    ['a link out', [{ name: './h', type: '1', link: '../../etc/shadow' }]],
    ['an absolute link', [{ name: './h', type: '1', link: '/etc/shadow' }]],
    [
      'a link through a link',
      [
        { name: './l', type: '2', link: '/etc' },
        { name: './h', type: '1', link: './l/shadow' },
      ],
    ],
    ['a link out by record', [{ name: './h', type: '1', link: './a', records: { linkpath: '/etc/shadow' } }]],
    ['a disk', [{ name: './d', type: '4', device: '0:0' }]],
    ['a device', [{ name: './d', type: '3', device: '1:3' }]],
    ['a folder with content', [{ name: './d', type: '5', content: 'x' }]],
    ['a link with content', [{ name: './d', type: '2', link: 'x', content: 'x' }]],
    ['a global header', [{ name: './g', type: 'g', content: 'x' }]],
    ['a long name of GNU', [{ name: './L', type: 'L', content: '/etc/x' }]],
    ['an unknown type', [{ name: './V', type: 'V' }]],
    ['a record that is not known', [{ name: './a', records: { 'GNU.dumpdir': 'x' } }]],
    ['marks of the system', [{ name: './a', records: { 'SCHILY.xattr.security.capability': 'x' } }]],
    ['another kind of sparse', [{ name: './a', records: { 'GNU.sparse.major': '0', 'GNU.sparse.minor': '1' } }]],
    ['sparse without a version', [{ name: './a', type: '5', records: { 'GNU.sparse.name': './b' } }]],
  ])('is refused with %s', async (_, entries) => {
    expect(await codeOf(...entries)).toBe('invalid');
  });

  it.each<[string, Buffer]>([
    ['without an end', entry({ name: './a' })],
    ['that ends in a file', entry({ name: './a', content: 'x'.repeat(2000) }).subarray(0, 1024)],
    ['with something behind its end', Buffer.concat([end, entry({ name: './a' })])],
    ['with a wrong checksum', Buffer.concat([entry({ name: './a' }).fill('7', 150, 151), end])],
    ['without a size', Buffer.concat([sealed(header('./a', '0', 0).fill(0, 124, 136)), end])],
    ['of another form', Buffer.concat([sealed(header('./a', '0', 0).fill(0, 257, 265)), end])],
    ['with a size of another form', Buffer.concat([sealed(header('./a', '0', 0).fill(0x80, 124, 125)), end])],
    [
      'with two extended headers',
      Buffer.concat([
        entry({ name: './a', records: { path: './a' } }).subarray(0, 1024),
        entry({ name: './a', records: { path: './b' } }),
        end,
      ]),
    ],
    [
      'with a record of a wrong length',
      Buffer.concat([header('x', 'x', 12), content('99 path=./a\n'), entry({ name: './a' }), end]),
    ],
    ['with a size that is none', Buffer.concat([entry({ name: './a', records: { size: '-1' } }), end])],
  ])('%s is damaged', async (_, archive) => {
    await expect(passed(archive)).rejects.toMatchObject({ code: 'invalid' });
  });
});
