import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Entry } from '../../model/change.ts';
import { readContent } from '../../tree/content.ts';
import { Reader } from '../../tree/reader.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import { BaseLogWriter, contentInLog, type KeptBase, readBaseLog } from './base-log.ts';
import { compactBaseLog } from './compact.ts';

const file: Entry = { type: 'file', mode: 0o644, sizeBytes: 3, target: null };
const kept = (content: string | null): KeptBase => ({
  origin: 'project',
  entry: file,
  identity: null,
  content: content === null ? null : Buffer.from(content, 'latin1'),
});

describe('the base log', () => {
  let place: WorkspacePlace;
  let path: string;
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'carrel-log-'));
    place = { kind: 'overlay', project: '/p', base: '/p', live: true, marks: 'trusted', folder };
    path = join(folder, 'base.log');
  });
  afterEach(() => rmSync(place.folder, { recursive: true }));

  function write(work: (writer: BaseLogWriter) => void): void {
    const writer = new BaseLogWriter(readBaseLog(place));
    work(writer);
    writer.close();
  }

  function contentOf(name: string): string | null {
    const log = readBaseLog(place);
    const record = log.records.get(name);
    const content = record && contentInLog(log.file, record);
    return content ? (readContent(content, name, 1000)?.toString('latin1') ?? null) : null;
  }

  it('is empty if there is no file', () => {
    expect(readBaseLog(place)).toMatchObject({ lookedNs: null, wholeBytes: 0 });
  });

  it('gives back names and contents of any bytes', () => {
    const [name, content] = ['a\nb\xff"/c', '{"path":"x"}\n\0\xff\n'];
    write((writer) => {
      writer.record(name, kept(content));
      writer.record('empty', kept(''));
      writer.record('folder', { ...kept(null), entry: { ...file, type: 'folder' } });
      writer.noteObserved(123456789012345678n);
    });
    expect([...readBaseLog(place).records.keys()]).toEqual([name, 'empty', 'folder']);
    expect([contentOf(name), contentOf('empty'), contentOf('folder')]).toEqual([content, '', null]);
    expect(readBaseLog(place).lookedNs).toBe(123456789012345678n);
  });

  it('takes the last record of a path', () => {
    write((writer) => {
      writer.record('a', kept('old'));
      writer.record('b', kept('old'));
    });
    write((writer) => {
      writer.record('a', kept('new'));
      writer.forget('b');
    });
    expect([contentOf('a'), readBaseLog(place).records.has('b')]).toEqual(['new', false]);
  });

  it('reads contents that are larger than one read', () => {
    const large = 'x'.repeat(3_000_000);
    write((writer) => {
      writer.record('large', kept(large));
      writer.record('after', kept('yes'));
    });
    const log = readBaseLog(place);
    expect(log.records.get('large')?.content?.lengthBytes).toBe(large.length);
    expect(contentOf('after')).toBe('yes');
  });

  it('ignores an incomplete last record, wherever it was cut, and overwrites it', () => {
    write((writer) => writer.record('a', kept('one')));
    const whole = statSync(path).size;
    write((writer) => writer.record('b', kept('two')));
    const [bytes, all] = [readFileSync(path), statSync(path).size];
    for (let length = whole; length < all; length += 1) {
      writeFileSync(path, bytes.subarray(0, length));
      expect(readBaseLog(place)).toMatchObject({ wholeBytes: whole });
      expect([...readBaseLog(place).records.keys()]).toEqual(['a']);
      write((writer) => writer.record('c', kept('three')));
      expect([contentOf('a'), contentOf('c')]).toEqual(['one', 'three']);
    }
  });

  it('does not grow by observations that find nothing new', () => {
    write((writer) => writer.noteObserved(111n));
    write((writer) => writer.record('a', kept('one')));
    const sizes = [222n, 333n, 444n].map((at) => {
      write((writer) => writer.noteObserved(at));
      expect(readBaseLog(place).lookedNs).toBe(at);
      return statSync(path).size;
    });
    expect(new Set(sizes).size).toBe(1);
    write((writer) => {
      writer.record('b', kept('two'));
      writer.noteObserved(555n);
    });
    expect([contentOf('a'), contentOf('b'), readBaseLog(place).lookedNs]).toEqual(['one', 'two', 555n]);
  });

  it('ignores a last record that is not valid', () => {
    write((writer) => writer.record('a', kept('one')));
    for (const garbage of [
      'nonsense\n',
      '{"path":1}\n',
      'null\n',
      '{"lookedNs":"x"}\n',
      '{"path":"b","origin":"project","lengthBytes":2}\nabc',
    ]) {
      const whole = statSync(path).size;
      appendFileSync(path, garbage);
      expect([...readBaseLog(place).records.keys()]).toEqual(['a']);
      expect(readBaseLog(place).wholeBytes).toBe(whole);
      truncateSync(path, whole);
    }
  });

  it('refuses content that differs from its hash', () => {
    write((writer) => writer.record('a', kept('one')));
    const bytes = readFileSync(path);
    bytes[bytes.length - 2] = 0;
    writeFileSync(path, bytes);
    expect(() => contentOf('a')).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });

  describe('that is much longer than its content', () => {
    const large = 'x'.repeat(300_000);

    function fill(): void {
      for (let n = 0; n < 20; n += 1)
        write((writer) => {
          writer.record('a', kept(`${n}${large}`));
          writer.record('b', kept('before'));
          writer.record('b', { ...kept(`applied ${n}`), origin: 'applied', apply: 'one' });
          writer.forget('gone');
          writer.noteObserved(BigInt(n));
        });
    }

    it('is rewritten with the same records', () => {
      fill();
      write((writer) => {
        for (const name of ['b', 'forgotten']) writer.hides(name);
        writer.forget('forgotten');
        writer.noteObserved(19n);
      });
      const before = readBaseLog(place);
      expect(compactBaseLog(before)).toBe(true);
      const after = readBaseLog(place);
      expect(after.wholeBytes).toBeLessThan(400_000);
      expect(statSync(path).size).toBe(after.wholeBytes);
      expect([after.lookedNs, after.records.size, [...after.hiding]]).toEqual([19n, 2, ['b']]);
      expect(after.records.get('b')).toMatchObject({
        origin: 'applied',
        previous: { origin: 'project' },
      });
      expect(after.records.get('a')!.sha256).toBe(before.records.get('a')!.sha256);
      expect(contentOf('b')).toBe('applied 19');
      write((writer) => writer.takeBack('one'));
      expect(contentOf('b')).toBe('before');
      expect(compactBaseLog(readBaseLog(place))).toBe(false);
    });

    it('stays readable for a reader that opened the old file', () => {
      fill();
      const before = readBaseLog(place);
      const content = contentInLog(path, before.records.get('a')!)!;
      compactBaseLog(before);
      const reader = new Reader();
      expect(readContent(content, 'a', 400_000)?.toString()).toBe(`19${large}`);
      expect(Buffer.from(reader.read({ from: 'content', content, path: 'a' }, 400_000)!).toString()).toBe(`19${large}`);
      reader.close();
    });

    it('is not rewritten if it is damaged, or if every record counts', () => {
      fill();
      const whole = readFileSync(path);
      whole.write('y', readBaseLog(place).records.get('a')!.content!.offset);
      writeFileSync(path, whole);
      expect(compactBaseLog(readBaseLog(place))).toBe(false);
      expect(readFileSync(path).equals(whole)).toBe(true);
      rmSync(path);
      write((writer) => {
        for (let n = 0; n < 20; n += 1) writer.record(`${n}`, kept(large));
      });
      expect(compactBaseLog(readBaseLog(place))).toBe(false);
    });
  });
});
