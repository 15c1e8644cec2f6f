/**
 * The memory of a user: notes of its agents and its own. The rules are in `docs/formats/memory.md`; `noun/memory/memory.ts`
 * keeps them.
 *
 * Life cycle of a note: saved by a person, a token of the hub or a sandbox → searched and read → removed, by its writer or
 * by the user, or at its expiry. The file of a user is opened when it is first used.
 *
 * Promises:
 * - Writer, time and id of a note come from here; only an import has those of the notes that it brings.
 * - A sandbox reaches only the scopes that its record grants, looked up for each call (`sandbox-memory.ts`). Notes of
 *   other scopes do not exist for it.
 * - A note of an agent of another sandbox, or of a token, is marked `foreign`: it is data, not an instruction. Imported
 *   notes are, too; notes that the user saved are not.
 * - A saved note is on disk when the request is answered.
 */
import { z } from 'zod';
import type { ProbeRow } from '../../../kernel/engine/engine.ts';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import * as shape from '../api.ts';
import { memoryConfig } from './config.ts';
import type { UserMemory } from './user-memory.ts';

export interface MemoryScopeParts {
  readonly memory: UserMemory;
}

const { noun, route } = declare<MemoryScopeParts>();

export const memory = noun({
  config: memoryConfig,
  routes: [
    route('GET /v1/memory', {
      id: 'memoryStats',
      summary: 'How many notes there are, by collection, and how much of the quota they use',
      answer: shape.statsView,
      act: null,
      handle: ({ scope }) => scope.memory.stats(),
    }),
    route('GET /v1/memory/notes', {
      id: 'listNotes',
      summary: 'Notes from the newest, of all scopes or of one project or sandbox',
      query: shape.notesQuery,
      answer: z.array(shape.noteView),
      act: null,
      handle: ({ scope, query }) => scope.memory.list(query),
    }),
    // No audit act: the note itself is the record of its author and time.
    route('POST /v1/memory/notes', {
      id: 'saveNote',
      summary: 'Save a note as this user; it is on disk when the request is answered',
      body: shape.noteRequest,
      answer: shape.noteView,
      act: null,
      handle: ({ scope, body }) => scope.memory.save(body),
    }),
    route('POST /v1/memory/search', {
      id: 'searchNotes',
      summary: 'Notes by words, by a vector, or both, the best first',
      body: shape.searchRequest,
      answer: z.array(shape.foundView),
      act: null,
      handle: ({ scope, body }) => scope.memory.search(body),
    }),
    route('GET /v1/memory/notes/{id}', {
      id: 'getNote',
      summary: 'One note',
      answer: shape.noteView,
      act: null,
      handle: ({ scope, path }) => scope.memory.get(path.id),
    }),
    route('DELETE /v1/memory/notes/{id}', {
      id: 'removeNote',
      summary: 'Remove a note',
      answer: shape.noteView,
      act: ({ path }) => ({ verb: 'memory.forget', names: [path.id], frees: true }),
      handle: ({ scope, path }) => scope.memory.remove(path.id),
    }),
    route('POST /v1/memory/forget', {
      id: 'forgetNotes',
      summary: 'Remove all notes of a project, a sandbox or a collection, those with metadata, or all',
      body: shape.forgetRequest,
      answer: shape.forgottenView,
      act: ({ body: { project, sandboxName, collection } }) => ({
        verb: 'memory.forget',
        names: [],
        words: { 'the scope': [project, sandboxName, collection] },
        detail: definedDetail({ project, sandbox: sandboxName, collection }),
        frees: true,
      }),
      handle: ({ scope, body }) => scope.memory.forget(body),
    }),
    route('DELETE /v1/memory/chroma', {
      id: 'eraseChroma',
      summary: 'Remove everything that the sandboxes of this user have in the Chroma server',
      answer: shape.erasedView,
      act: () => ({ verb: 'memory.erase', names: [], frees: true }),
      handle: ({ scope }) => scope.memory.eraseChroma(),
    }),
    route('POST /v1/memory/vectors', {
      id: 'noteVectors',
      summary: 'The vectors of notes, for an export',
      body: shape.vectorsRequest,
      answer: z.array(shape.vectorView),
      act: null,
      handle: async ({ scope, body }) =>
        (await scope.memory.vectors(body.ids)).map((one) => ({ ...one, values: [...one.values] })),
    }),
    route('POST /v1/memory/import', {
      id: 'importNotes',
      summary:
        'Save notes of an export; they are marked as imported, and one that was imported before is not saved again',
      body: shape.importRequest,
      answer: shape.importView,
      act: ({ body: { notes } }) => ({ verb: 'memory.import', names: [], detail: { notes: notes.length } }),
      handle: ({ scope, body }) => scope.memory.import(body),
    }),
  ],
  examine: async ({ memory: found }) => rowsOf(await found.stats()),
});

/** In the error of a server that was compiled for a newer system. */
const newerSystem = /GLIBC_[0-9.]+/;

function chromaRows(chroma: shape.MemoryStatsView['chroma']): ProbeRow[] {
  if (chroma === null) return [];
  const row = (detail: string, hint: string): ProbeRow => ({ name: 'chroma', level: 'warning', detail, hint });
  const damaged = chroma.setAside.map((path) =>
    row(
      `damaged files of the Chroma server were set aside: ${path}`,
      `Restore a backup with carrel volume restore, or recover with sqlite3 ${path}/chroma.sqlite3 .recover; then move it away.`,
    ),
  );
  const { state, version, reason } = chroma;
  if (state === 'ready') {
    return [{ name: 'chroma', level: 'ok', detail: `the server answers, version ${version}`, hint: null }, ...damaged];
  }
  const why = reason ?? `it is ${state}`;
  const newer = newerSystem.exec(why)?.[0];
  if (newer !== undefined) {
    const detail = `the Chroma server was compiled for ${newer}, which this system does not have`;
    return [row(detail, 'Install the build that fits: carrel memory install --force'), ...damaged];
  }
  const hint =
    state === 'absent' ? 'carrel memory install fetches the server.' : 'See chroma/broker.log in the home of Carrel.';
  return [row(`the Chroma server is not ready: ${why}`, hint), ...damaged];
}

function rowsOf(stats: shape.MemoryStatsView): ProbeRow[] {
  return [...noteRows(stats), ...chromaRows(stats.chroma)];
}

function noteRows({ searchesVectors, setAside }: shape.MemoryStatsView): ProbeRow[] {
  const damaged = setAside.map(
    (path): ProbeRow => ({
      ...{ name: 'memory', level: 'warning', detail: `a damaged file was set aside: ${path}` },
      hint: `Recover its notes with sqlite3 ${path} .recover, or move it away.`,
    }),
  );
  if (searchesVectors) return damaged;
  const detail = 'sqlite-vec cannot be loaded: notes are searched by their words only';
  return [
    ...damaged,
    {
      name: 'memory',
      level: 'warning',
      detail,
      hint: 'Install Carrel again, on a machine that sqlite-vec has a build for.',
    },
  ];
}
