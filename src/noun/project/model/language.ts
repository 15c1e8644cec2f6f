/** Words of `project add --lang`, and the language servers that each allows. */
export const languageWords: Readonly<Record<string, readonly string[]>> = {
  ts: ['typescript'],
  typescript: ['typescript'],
  js: ['typescript'],
  javascript: ['typescript'],
  py: ['pyright', 'pylsp'],
  python: ['pyright', 'pylsp'],
  c: ['clangd'],
  cpp: ['clangd'],
  go: ['gopls'],
  rust: ['rust-analyzer'],
  bash: ['bash'],
  shell: ['bash'],
  yaml: ['yaml'],
};

export const serverNamePattern = /^[a-z0-9][a-z0-9._-]{0,47}$/;

/** A language server from config.yaml. */
export interface ConfiguredServer {
  readonly name: string;
  readonly command: readonly string[];
  /** Language ids by the end of a file's name, with the dot, or by the whole name. */
  readonly languages: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly initializationOptions?: unknown;
}

/** Which language servers a spoke uses. */
export interface CodeSetup {
  /** Words of `--lang`, or names of servers; null: all. */
  readonly languages: readonly string[] | null;
  readonly servers: readonly ConfiguredServer[];
}
