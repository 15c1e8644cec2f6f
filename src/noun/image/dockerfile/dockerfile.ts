/**
 * The Dockerfile of a project, as Carrel reads it and as the engine gets it.
 *
 * Bytes → `parseDockerfile` → `Dockerfile`, a list of instructions → `recipeFrom` → `Recipe`, the text for the engine and
 * the files of the project that it copies. The builder never sees the original text, only text that is written from the
 * instructions, so no two parsers can disagree about it.
 *
 * Promises:
 * - What is not understood is refused with `invalid`, with the file and the line.
 * - Every stage begins with the base image or an earlier stage. No instruction can name another image, an address that
 *   the engine itself would download, a mount, a secret or a network.
 * - A file has a maximal size, number of instructions and length of an instruction.
 */
import type { Heredoc } from './heredoc.ts';

export interface Instruction {
  /** In upper case. */
  readonly name: string;
  /** The line where it begins, counted from 1. */
  readonly line: number;
  /** Everything after the name, on one line. */
  readonly text: string;
  readonly heredocs: readonly Heredoc[];
}

export interface Dockerfile {
  readonly file: string;
  readonly escaper: Escape;
  readonly instructions: readonly Instruction[];
}

export type Escape = '\\' | '`';

/** Patterns of paths below the project. */
export interface Files {
  readonly line: number;
  readonly patterns: readonly string[];
}

export interface RecipeBase {
  /** The names by which Dockerfiles refer to the base. */
  readonly names: readonly string[];
  readonly id: string;
}

export interface BuildStep {
  /** The instruction as its author wrote it. */
  readonly title: string;
  readonly line: number;
  /** The text for the engine. */
  readonly text: string;
}

export interface Recipe {
  readonly file: string;
  readonly head: string;
  readonly steps: readonly BuildStep[];
  /** The files of the project that it copies. */
  readonly files: readonly Files[];
}
