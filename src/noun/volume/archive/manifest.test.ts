import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { archiveFormat, type Manifest, manifestBytes, parseManifest, printManifest } from './manifest.ts';

const manifest: Manifest = {
  format: archiveFormat,
  volume: 'carrel-home-a1b2c3d4',
  type: 'home',
  owner: 'ada',
  createdAt: '2025-01-02T03:04:05.000Z',
  backedUpAt: '2025-01-03T03:04:05.000Z',
  carrel: '0.1.0',
  compression: 'zstd',
  payloadBytes: 512,
  payloadSha256: 'a'.repeat(64),
};

/** A manifest as a person could write it, with a proper checksum. */
function written(change: Record<string, unknown>): Buffer {
  const facts = { ...manifest, ...change };
  const manifestSha256 = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  return Buffer.from(JSON.stringify({ ...facts, manifestSha256 }));
}

const named = { type: 'named', label: 'cache', volume: 'carrel-named-a1b2c3d4-cache' } as const;
const shared = { type: 'base-plugins', owner: null, volume: 'carrel-base-plugins' } as const;

describe('the manifest of a backup', () => {
  it.each<[string, Partial<Manifest>]>([
    ['of a user', {}],
    ['of a named volume', named],
    ['of a shared volume', shared],
    ['with a name of other letters', { owner: 'Ådä \n"' }],
  ])('%s is read as it was written, and has a fixed size', (_, change) => {
    const bytes = printManifest({ ...manifest, ...change });
    expect(bytes.length).toBe(manifestBytes);
    expect(parseManifest(bytes)).toEqual({ ...manifest, ...change });
  });

  it('does not depend on how the file was made: one with a proper checksum is accepted', () => {
    expect(parseManifest(written({}))).toEqual(manifest);
  });

  it('is refused by name if a newer Carrel wrote it, whatever else it has', () => {
    const bytes = Buffer.from(JSON.stringify({ format: archiveFormat + 1, kind: 'new' }));
    expect(() => parseManifest(bytes)).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('format 2') }),
    );
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['format', 'format', { format: 0 }],
    ['volume', 'volume', { volume: 1 }],
    ['type', 'type', { type: 'other' }],
    ['a type of the prototype', 'type', { type: 'constructor' }],
    ['label with a path', 'label', { ...named, label: '../x' }],
    ['a label of another type', 'label', { label: 'cache' }],
    ['no label for a named volume', 'label', { ...named, label: undefined }],
    ['owner', 'owner', { owner: 1 }],
    ['no owner for a volume of a user', 'owner', { owner: null }],
    ['an owner for a shared volume', 'owner', { ...shared, owner: 'ada' }],
    ['compression', 'compression', { compression: 'sh' }],
    ['a negative size', 'payloadBytes', { payloadBytes: -1 }],
    ['a size that is no integer', 'payloadBytes', { payloadBytes: 0.5 }],
    ['a size beyond all files', 'payloadBytes', { payloadBytes: 2 ** 60 }],
    ['a checksum of another length', 'payloadSha256', { payloadSha256: 'abc' }],
  ])('is refused with a bad field, even with a proper checksum: %s', (_, field, change) => {
    expect(() => parseManifest(written(change))).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(field) }),
    );
  });

  it('is refused if a field was changed after it was written', () => {
    const text = printManifest(manifest).toString();
    for (const [from, to] of [
      ['"ada"', '"eve"'],
      ['"payloadBytes":512', '"payloadBytes":513'],
      ['"zstd"', '"gzip"'],
    ] as const) {
      expect(text).toContain(from);
      expect(() => parseManifest(Buffer.from(text.replace(from, to)))).toThrow('another checksum');
    }
  });

  it.each(['', 'null', '[', '"text"', '{}', '[]'])('is refused as %j', (text) => {
    expect(() => parseManifest(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  it('that would not fit is not written', () => {
    expect(() => printManifest({ ...manifest, owner: 'x'.repeat(manifestBytes) })).toThrow('too long');
  });
});
