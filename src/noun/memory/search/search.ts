/** The two orders that a search joins: by words, and by vectors. */
import type { Database } from 'better-sqlite3';
import type { Vector } from '../memory.ts';
import { type Collection, isSelected, type SelectedSql } from '../notes.ts';
import { bitsOf, bytesOf } from './vector.ts';

/** The length of each order. */
const depth = 50;
/**
 * How many notes one word, or all words of a query together, may match before the order by words ignores common words.
 */
const maxMatches = 4000;
const maxWords = 32;
/** Up to this number of vectors, all are compared by all their values. More are first compared by their bits. */
const maxExact = 2000;
const candidates = 400;

export class TextOrder {
  readonly #count;
  readonly #match;

  constructor(db: Database) {
    this.#count = db
      .prepare<[string], number>(`SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ${maxMatches})`)
      .pluck();
    this.#match = db
      .prepare<[SelectedSql & { match: string }], number>(
        `SELECT n.seq FROM words JOIN notes n ON n.seq = words.rowid
         WHERE words MATCH @match AND ${isSelected} ORDER BY words.rank LIMIT ${depth}`,
      )
      .pluck();
  }

  /** The best first. */
  find(text: string, selected: SelectedSql): number[] {
    const match = this.#expression(text);
    return match === null ? [] : this.#match.all({ ...selected, match });
  }

  /**
   * Matches any of the words, so that a question finds its answer. A word that very many notes contain says little and
   * costs much: only the rarest words are used, up to a number of matches. If all words are common, a note must contain
   * all of them.
   */
  #expression(text: string): string | null {
    const words = wordsOf(text).map((word) => ({ word, count: this.#count.get(word)! }));
    const known = words.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count);
    if (known.length === 0) return null;
    const rare = upTo(known, maxMatches);
    if (rare.length > 0) return rare.map(({ word }) => word).join(' OR ');
    return known.map(({ word }) => word).join(' ');
  }
}

/** The first items, as long as the sum of their counts is less than `most`. */
function upTo<T extends { readonly count: number }>(counted: readonly T[], most: number): T[] {
  let sum = 0;
  const end = counted.findIndex(({ count }) => {
    sum += count;
    return sum >= most;
  });
  return counted.slice(0, end < 0 ? counted.length : end);
}

/** Quoted, so that none of them is an operator. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words)].slice(0, maxWords).map((word) => `"${word}"`);
}

export class VectorOrder {
  readonly #all;
  readonly #near;
  readonly #nearSelected;
  readonly #exact;

  constructor(db: Database) {
    const near = (joined: string, condition: string) =>
      db
        .prepare<[SelectedSql & { bits: Buffer }], number>(
          `SELECT b.note FROM json_each(@collections) c JOIN bits b ON b.collection = c.value ${joined} WHERE ${condition}
           ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(@bits)) LIMIT ${candidates}`,
        )
        .pluck();
    this.#near = near('', '(b.expires_at IS NULL OR b.expires_at > @now)');
    this.#nearSelected = near('JOIN notes n ON n.seq = b.note', isSelected);
    this.#all = db
      .prepare<[SelectedSql], number>(
        `SELECT n.seq FROM json_each(@collections) c JOIN bits b ON b.collection = c.value JOIN notes n ON n.seq = b.note WHERE ${isSelected}`,
      )
      .pluck();
    this.#exact = db
      .prepare<[string, Buffer], number>(
        `SELECT v.note FROM json_each(?) s JOIN vectors v ON v.note = s.value
         ORDER BY vec_distance_cosine(v.vector, ?) LIMIT ${depth}`,
      )
      .pluck();
  }

  /** The nearest first. The vectors of all `collections` must be of the same model as the one that is searched for. */
  find({ values }: Vector, collections: readonly Collection[], selected: SelectedSql): number[] {
    const count = collections.reduce((sum, { vectors }) => sum + vectors, 0);
    if (count === 0) return [];
    const inThem = { ...selected, collections: JSON.stringify(collections.map(({ id }) => id)) };
    const seqs = count <= maxExact ? this.#all.all(inThem) : this.#nearest(values, inThem);
    return this.#exact.all(JSON.stringify(seqs), bytesOf(values));
  }

  #nearest(values: readonly number[], selected: SelectedSql): number[] {
    const near = selected.where === '{}' ? this.#near : this.#nearSelected;
    return near.all({ ...selected, bits: bitsOf(values) });
  }
}
