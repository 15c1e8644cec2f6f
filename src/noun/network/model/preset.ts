/** Names for the hosts that a tool needs: `--network npm,github`. A preset is expanded when it is used, so a sandbox records its hosts. */

export type NetworkPresets = Readonly<Record<string, readonly string[]>>;

/** The preset with the hosts of all other presets. */
export const devPreset = 'dev';

export const defaultPresets: NetworkPresets = {
  npm: ['registry.npmjs.org', 'registry.yarnpkg.com'],
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  crates: ['crates.io', 'index.crates.io', 'static.crates.io'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  github: ['github.com', 'api.github.com', 'codeload.github.com', '*.githubusercontent.com'],
  debian: ['deb.debian.org', 'security.debian.org'],
  anthropic: ['api.anthropic.com'],
  openai: ['api.openai.com'],
  gemini: ['generativelanguage.googleapis.com'],
};

/**
 * The default presets and those of the owner, which replace defaults of the same name. `dev` is added unless the owner
 * defines it.
 */
export function presetsWith(own: NetworkPresets): NetworkPresets {
  const named = { ...defaultPresets, ...own };
  const { [devPreset]: _, ...others } = named;
  return { [devPreset]: [...new Set(Object.values(others).flat())], ...named };
}

/** Replaces the names of presets by their hosts. Other rules stay as they are. */
export function expandPresets(rules: readonly string[], presets: NetworkPresets): string[] {
  return [...new Set(rules.flatMap((rule) => (Object.hasOwn(presets, rule) ? presets[rule]! : [rule])))];
}
