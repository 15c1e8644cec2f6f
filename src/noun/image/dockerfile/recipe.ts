/**
 * What a project's Dockerfile may ask for, and the Dockerfile that the engine gets instead. Every stage begins with the
 * base image or an earlier stage. No instruction can name another image, an address that the engine itself would
 * download, a mount, a secret or a network.
 */

import { arch } from 'node:os';
import { readSources } from './copy.ts';
import type { Dockerfile, Files, Instruction, Recipe, RecipeBase } from './dockerfile.ts';
import { shellScript } from './heredoc.ts';
import { refusal } from './parse.ts';
import { expand, jsonWords, splitWords, unquoted } from './words.ts';

interface Stage {
  readonly name: string | null;
  shell: readonly string[];
}

/** Parsers of Dockerfiles refuse longer lines. */
const maxStepBytes = 60_000;
const maxSteps = 500;
const defaultShell = ['/bin/sh', '-c'];

export function recipeFrom(dockerfile: Dockerfile, base: RecipeBase): Recipe {
  const { file, escaper, instructions } = dockerfile;
  const writer = new Writer(dockerfile, base);
  const steps = instructions.map((instruction) => ({
    title: `${instruction.name} ${instruction.text}`.trim(),
    line: instruction.line,
    text: writer.write(instruction),
  }));
  if (writer.stages.length === 0) throw refusal(file, 1, 'it has no FROM', `Begin with: FROM ${base.names[0]}`);
  if (steps.length > maxSteps) throw refusal(file, steps[maxSteps]!.line, `it has more than ${maxSteps} instructions`);
  return { file, head: escaper === '\\' ? '' : `# escape=${escaper}\n`, steps, files: writer.files };
}

class Writer {
  readonly stages: Stage[] = [];
  readonly files: Files[] = [];
  readonly #dockerfile: Dockerfile;
  readonly #base: RecipeBase;
  readonly #arguments = new Map<string, string>();

  constructor(dockerfile: Dockerfile, base: RecipeBase) {
    this.#dockerfile = dockerfile;
    this.#base = base;
  }

  write(instruction: Instruction): string {
    const { name, line } = instruction;
    if (this.stages.length === 0 && name !== 'FROM' && name !== 'ARG') {
      throw this.#refuse(line, `${name} comes before the first FROM`);
    }
    const text = this.#text(instruction);
    const { escaper } = this.#dockerfile;
    if (Buffer.byteLength(text) > maxStepBytes)
      throw this.#refuse(line, 'it is too long', 'Copy a script and run that.');
    // Otherwise the next step would become a part of this one.
    if (text.trimEnd().endsWith(escaper)) throw this.#refuse(line, `it ends with ${escaper}`);
    return text;
  }

  #text(instruction: Instruction): string {
    const { name, line, text } = instruction;
    switch (name) {
      case 'FROM':
        return this.#from(instruction);
      case 'ARG':
        if (this.stages.length === 0) this.#argument(instruction);
        return `ARG ${text}`;
      case 'COPY':
      case 'ADD':
        return this.#copy(instruction);
      case 'RUN':
        return this.#run(instruction);
      case 'SHELL':
        this.stages.at(-1)!.shell = this.#shell(instruction);
        return `SHELL ${text}`;
      case 'LABEL':
        this.#checkLabels(instruction);
        return `LABEL ${text}`;
      case 'ONBUILD':
        throw this.#refuse(line, 'ONBUILD has no use here', 'Say what is to be done itself.');
      case 'VOLUME':
        throw this.#refuse(
          line,
          'an image of a sandbox has no volumes',
          'Give volumes to the sandbox: --volume NAME:PATH',
        );
      default:
        return `${name} ${text}`;
    }
  }

  #refuse(line: number, what: string, hint?: string) {
    return refusal(this.#dockerfile.file, line, what, hint);
  }

  #words(text: string): string[] {
    return splitWords(text, this.#dockerfile.escaper);
  }

  #from({ line, text }: Instruction): string {
    const words = this.#words(text);
    while (words[0]?.startsWith('--')) this.#checkPlatform(line, words.shift()!);
    const [reference, as, name, ...rest] = words;
    const wellFormed = reference !== undefined && rest.length === 0 && words.length !== 2;
    if (!wellFormed || (as !== undefined && as.toUpperCase() !== 'AS')) {
      throw this.#refuse(line, 'FROM takes an image and a name', 'FROM IMAGE, or FROM IMAGE AS NAME');
    }
    if (name !== undefined) this.#checkStageName(line, name);
    const [source, shell] = this.#origin(line, reference);
    this.stages.push({ name: name?.toLowerCase() ?? null, shell });
    return `FROM ${source}${name === undefined ? '' : ` AS ${name.toLowerCase()}`}`;
  }

  /** What a stage begins with: an earlier stage of that name, or the base. */
  #origin(line: number, reference: string): [source: string, shell: readonly string[]] {
    const named = expand(reference, this.#arguments);
    const stage = this.stages.find(({ name }) => name !== null && name === named?.toLowerCase());
    if (stage) return [stage.name!, stage.shell];
    if (named !== null && this.#base.names.includes(named)) return [this.#base.id, defaultShell];
    const what = named === null || named === reference ? reference : `${reference}, which is ${named},`;
    throw this.#refuse(
      line,
      `${what || 'nothing'} is not the base image`,
      `Every stage begins with: FROM ${this.#base.names[0]}`,
    );
  }

  /** Images are built for this machine only. */
  #checkPlatform(line: number, flag: string): void {
    const [, platform] = /^--platform=(.+)$/.exec(flag) ?? [];
    const own = `linux/${arch() === 'x64' ? 'amd64' : arch()}`;
    const known = ['$BUILDPLATFORM', '$TARGETPLATFORM', `\${BUILDPLATFORM}`, `\${TARGETPLATFORM}`, own];
    if (platform !== undefined && known.includes(platform)) return;
    throw this.#refuse(line, `${flag} cannot be had`, `Images are for this machine, ${own}: leave it out.`);
  }

  #checkStageName(line: number, name: string): void {
    const taken = this.stages.some((stage) => stage.name === name.toLowerCase());
    if (taken) throw this.#refuse(line, `there is a stage ${name} already`);
    if (!/^[a-z][a-z0-9_.-]{0,127}$/i.test(name))
      throw this.#refuse(line, `${JSON.stringify(name)} cannot name a stage`);
  }

  /** Reads an ARG before the first FROM: its variables may be used in the names of images. */
  #argument({ line, text }: Instruction): void {
    for (const word of this.#words(text)) {
      const [, name, given] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(word) ?? [];
      const bare = given === undefined ? '' : unquoted(given);
      const value = bare === null ? null : expand(bare, this.#arguments);
      if (name === undefined || value === null) throw this.#refuse(line, `${word} is not understood`, 'ARG NAME=VALUE');
      this.#arguments.set(name, value);
    }
  }

  #copy(instruction: Instruction): string {
    const known = this.stages
      .slice(0, -1)
      .flatMap(({ name }, index) => [String(index), ...(name === null ? [] : [name])]);
    const { text, files } = readSources(instruction, known, (what, hint) => this.#refuse(instruction.line, what, hint));
    if (files !== null) this.files.push(files);
    return text;
  }

  #run({ line, text, heredocs }: Instruction): string {
    if (text.startsWith('--')) {
      throw this.#refuse(line, `a build has no options: ${text.split(/\s/)[0]}`, 'No mounts, secrets or networks.');
    }
    if (heredocs.length === 0) return `RUN ${text}`;
    const script = shellScript(text, heredocs);
    if (script === null) throw this.#refuse(line, 'a script for another program', 'Name it: RUN python3 <<EOF');
    return `RUN ${JSON.stringify([...this.stages.at(-1)!.shell, script])}`;
  }

  #shell({ line, text }: Instruction): readonly string[] {
    const words = jsonWords(text);
    if (words === null || words.length === 0)
      throw this.#refuse(line, 'SHELL takes a JSON list', 'SHELL ["/bin/sh", "-c"]');
    return words;
  }

  /** Labels `carrel.*` are refused: they mark images that Carrel made. */
  #checkLabels({ line, text }: Instruction): void {
    for (const word of this.#words(text)) {
      const key = unquoted(word.split('=', 1)[0]!);
      if (key === null || key.includes('$'))
        throw this.#refuse(line, `${word} is not understood`, 'LABEL NAME="VALUE"');
      if (key.startsWith('carrel.')) throw this.#refuse(line, `labels that begin with carrel. are not for images`);
    }
  }
}
