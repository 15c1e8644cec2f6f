/** The table of agents: one entry for each, with its settings for stories, sessions and terminals. */
import { type AcpSpec, type AgentSpec, claudeLogin } from './agent.ts';

/** A file of settings below the agent's home, as JSON. Texts may name variables, as `{OPENAI_BASE_URL}`. */
export interface SettingsFile {
  readonly path: string;
  /** Replaces values of the file. */
  readonly set?: object;
  /** Added if the file has no such value. */
  readonly defaults?: object;
}

/** How the agent's own terminal program is started, with the questions of a first start answered. */
export interface TerminalSpec {
  readonly command: readonly string[];
  /** Options that name variables: a group is left out if a variable of it is not set. */
  readonly options?: readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly SettingsFile[];
}

/** Names that lead to a value in JSON. */
type Path = readonly string[];

/**
 * A login on this machine whose token or key can be added to requests outside of sandboxes. Carrel never reads a
 * refresh token.
 */
export interface HostLogin {
  /** The path of the token in the file. */
  readonly value: Path;
  /** The name of the secret that the token becomes. */
  readonly secret: string;
  /**
   * The time at which the token expires: the path in the file, for a time in milliseconds, or of a claim of the token,
   * in seconds.
   */
  readonly expires?: { readonly file: Path } | { readonly claim: Path };
  /** The lifetime of such a token, if it is so short that its owner has to know it in advance. */
  readonly lifetime?: string;
  /** The path of the account in the file. The token must name the same account. */
  readonly account?: Path;
  /** The login is ignored if the file has this value at this path. */
  readonly unless?: { readonly path: Path; readonly is: string };
}

/** The file of this machine in which an agent keeps its login. */
export interface LoginFile {
  /** The path below the home. */
  readonly file: string;
  /** The variable by which users of the agent choose another folder for the file. */
  readonly folderVariable?: string;
  /** The kinds of logins that the file may contain. The first one that it contains is used. */
  readonly kinds: readonly HostLogin[];
}

interface AgentEntry {
  /** The npm package of `terminal`. */
  readonly package?: string;
  readonly terminal?: TerminalSpec & Pick<AgentSpec, 'key' | 'anyKey'>;
  readonly login?: LoginFile;
  readonly story?: AgentSpec;
  readonly session?: AcpSpec;
  /** The npm package of `session`, if it is another one. */
  readonly sessionPackage?: string;
}

const anthropicKey = { variable: 'ANTHROPIC_API_KEY', secret: 'ANTHROPIC_API_KEY', login: claudeLogin } as const;
const codexKey = { variable: 'CODEX_API_KEY', secret: 'OPENAI_API_KEY', elsewhere: 'OPENAI_API_KEY' };
const chatgptLogin = 'CHATGPT_ACCESS_TOKEN';
const geminiKey = { variable: 'GEMINI_API_KEY', secret: 'GEMINI_API_KEY' };
const googleLogin = 'GEMINI_ACCESS_TOKEN';
const anyKey = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];

/** Options that define a provider, because codex accepts a base URL only for a provider. */
function codexProvider(base: string, key: string): string[] {
  return [
    ...['-c', 'model_provider="carrel"', '-c', 'model_providers.carrel.name="OpenAI"'],
    ...['-c', `model_providers.carrel.base_url="{${base}}"`],
    ...['-c', `model_providers.carrel.env_key="${key}"`],
    ...['-c', 'model_providers.carrel.wire_api="responses"'],
  ];
}

/** Gemini works by ACP: without a terminal its own mode refuses the base URL of a credential. */
const geminiAcp: AcpSpec = { kind: 'acp', command: ['gemini', '--acp', '--skip-trust'], key: geminiKey };
const opencodeAcp: AcpSpec = { kind: 'acp', command: ['opencode', 'acp'], anyKey };

/** In a terminal no agent asks for permissions, because the sandbox is the boundary; options after `--` can change that. */
export const agents: Readonly<Record<string, AgentEntry>> = {
  claude: {
    package: '@anthropic-ai/claude-code',
    terminal: {
      command: ['claude'],
      key: anthropicKey,
      env: {
        DISABLE_AUTOUPDATER: '1',
        DISABLE_INSTALLATION_CHECKS: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
      },
      files: [
        {
          path: '.claude.json',
          set: {
            hasCompletedOnboarding: true,
            bypassPermissionsModeAccepted: true,
            customApiKeyResponses: { approved: ['{ANTHROPIC_API_KEY:-20}'] },
            projects: { '/workspace': { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
          },
        },
        {
          path: '.claude/settings.json',
          set: { skipDangerousModePermissionPrompt: true },
          defaults: { permissions: { defaultMode: 'bypassPermissions' } },
        },
      ],
    },
    login: {
      file: '.claude/.credentials.json',
      folderVariable: 'CLAUDE_CONFIG_DIR',
      kinds: [
        {
          value: ['claudeAiOauth', 'accessToken'],
          secret: claudeLogin,
          expires: { file: ['claudeAiOauth', 'expiresAt'] },
        },
      ],
    },
    story: { kind: 'claude', command: ['claude'], key: anthropicKey },
    session: { kind: 'acp', command: ['claude-agent-acp'], key: anthropicKey },
    sessionPackage: '@agentclientprotocol/claude-agent-acp',
  },
  codex: {
    package: '@openai/codex',
    terminal: {
      command: ['codex', '--dangerously-bypass-approvals-and-sandbox', '-c', 'check_for_update_on_startup=false'],
      key: { ...codexKey, login: chatgptLogin },
      // Codex uses the last provider that is set: a key takes precedence over the login of ChatGPT.
      options: [
        ['-c', 'projects."/workspace".trust_level="trusted"'],
        codexProvider('CHATGPT_BASE_URL', chatgptLogin),
        codexProvider('OPENAI_BASE_URL', 'OPENAI_API_KEY'),
      ],
    },
    login: {
      file: '.codex/auth.json',
      folderVariable: 'CODEX_HOME',
      kinds: [
        // With an account, codex may keep a key in the file that it does not use.
        {
          value: ['OPENAI_API_KEY'],
          secret: 'OPENAI_API_KEY',
          unless: { path: ['auth_mode'], is: 'chatgpt' },
        },
        {
          value: ['tokens', 'access_token'],
          secret: chatgptLogin,
          expires: { claim: ['exp'] },
          account: ['tokens', 'account_id'],
        },
      ],
    },
    story: {
      kind: 'command',
      command: ['codex', 'exec', '--dangerously-bypass-approvals-and-sandbox', '-'],
      input: 'prompt',
      key: codexKey,
    },
    session: { kind: 'acp', command: ['codex-acp'], key: codexKey },
    sessionPackage: '@zed-industries/codex-acp',
  },
  gemini: {
    package: '@google/gemini-cli',
    terminal: {
      command: ['gemini', '--yolo', '--skip-trust'],
      key: { ...geminiKey, login: googleLogin },
      files: [
        {
          path: '.gemini/settings.json',
          set: { security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } } },
          defaults: { general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } },
        },
        // For an account instead of a key.
        { path: '.gemini/settings.json', set: { security: { auth: { selectedType: '{GEMINI_DEFAULT_AUTH_TYPE}' } } } },
      ],
    },
    login: {
      file: '.gemini/oauth_creds.json',
      kinds: [
        {
          value: ['access_token'],
          secret: googleLogin,
          expires: { file: ['expiry_date'] },
          lifetime: 'about an hour',
        },
      ],
    },
    story: geminiAcp,
    session: geminiAcp,
  },
  opencode: {
    package: 'opencode-ai',
    terminal: {
      command: ['opencode'],
      anyKey,
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
      files: [
        {
          path: '.config/opencode/opencode.json',
          set: {
            provider: {
              anthropic: { options: { baseURL: '{ANTHROPIC_BASE_URL}/v1' } },
              openai: { options: { baseURL: '{OPENAI_BASE_URL}' } },
              google: { options: { baseURL: '{GOOGLE_GEMINI_BASE_URL}/v1beta' } },
            },
          },
          defaults: { autoupdate: false, share: 'disabled' },
        },
        // Marks the types of plugins as installed: otherwise opencode shows nothing until npm has failed to fetch them.
        {
          path: '.config/opencode/package-lock.json',
          defaults: { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } },
        },
        { path: '.config/opencode/node_modules/package.json', defaults: { private: true } },
      ],
    },
    story: opencodeAcp,
    session: opencodeAcp,
  },
  copilot: {
    package: '@github/copilot',
    terminal: {
      command: ['copilot', '--allow-all-tools'],
      key: { variable: 'COPILOT_GITHUB_TOKEN', secret: 'COPILOT_GITHUB_TOKEN' },
      files: [{ path: '.copilot/config.json', set: { trusted_folders: ['/workspace'] } }],
    },
  },
  qwen: {
    package: '@qwen-code/qwen-code',
    terminal: {
      command: ['qwen', '--yolo'],
      key: { variable: 'OPENAI_API_KEY', secret: 'OPENAI_API_KEY' },
      files: [
        {
          path: '.qwen/settings.json',
          set: { security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } } },
          defaults: { general: { disableAutoUpdate: true }, privacy: { usageStatisticsEnabled: false } },
        },
      ],
    },
  },
  /**
   * The demo agent has no model: it works on the stories of `carrel demo`, and in a session it understands a few words.
   */
  demo: {
    story: { kind: 'command', command: ['/opt/carrel/bin/demo-agent'] },
    session: { kind: 'acp', command: ['/opt/carrel/bin/demo-acp'] },
  },
};

function having<P extends keyof AgentEntry>(part: P): Record<string, NonNullable<AgentEntry[P]>> {
  return Object.fromEntries(
    Object.entries(agents).flatMap(([name, entry]) => (entry[part] === undefined ? [] : [[name, entry[part]]])),
  );
}

/** Agents of stories. Each is found on the PATH of the sandbox and needs no configuration but its key. */
export const agentPresets = having('story');

/** Agents of sessions: they speak the Agent Client Protocol. */
export const sessionAgents = having('session');

/** Agents with a terminal program. */
export const terminalAgents = having('terminal');

/** npm packages, by the program that they install. */
export const agentPackages: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(agents).flatMap(([name, { package: own, session, sessionPackage }]) => [
    ...(own === undefined ? [] : [[name, own]]),
    ...(sessionPackage === undefined ? [] : [[session!.command[0], sessionPackage]]),
  ]),
);
