/** What Carrel knows of each agent: one entry an agent, for stories, sessions and terminals. */
import type { AcpSpec, AgentSpec } from './agent.ts';

/** A file of settings below the agent's home, as JSON. Texts may name variables, as `{OPENAI_BASE_URL}`. */
export interface SettingsFile {
  readonly path: string;
  /** Replaces what the file says. */
  readonly set?: object;
  /** Only where the file says nothing. */
  readonly defaults?: object;
}

/** How the agent's own terminal program is started, with the questions of a first start answered. */
export interface TerminalSpec {
  readonly command: readonly string[];
  /** Options that name variables: a group is left out where a variable of it is not set. */
  readonly options?: readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly SettingsFile[];
}

/** Names that lead to a value in JSON. */
type Path = readonly string[];

/** A login of this machine whose token, or key, can be added to requests outside of sandboxes. What renews it is never read. */
export interface HostLogin {
  /** Where in the file the token is. */
  readonly value: Path;
  /** The secret that it becomes. */
  readonly secret: string;
  /** Where in the file the time in milliseconds is at which it expires, or in which claim of the token it is in seconds. */
  readonly expires?: { readonly file: Path } | { readonly claim: Path };
  /** How long the service lets such a token live, where that is so short that its owner has to know before. */
  readonly lifetime?: string;
  /** Where in the file the account is. The token has to name the same one. */
  readonly account?: Path;
  /** It does not count where the file has this value there. */
  readonly unless?: { readonly path: Path; readonly is: string };
}

/** The file of this machine in which an agent keeps its login. */
export interface LoginFile {
  /** Below the home. */
  readonly file: string;
  /** The variable in which users of the agent name another folder for it. */
  readonly folderVariable?: string;
  /** The first one that the file has counts. */
  readonly kinds: readonly HostLogin[];
}

interface AgentEntry {
  /** The npm package of `terminal`. */
  readonly package?: string;
  readonly terminal?: TerminalSpec & Pick<AgentSpec, 'key' | 'anyKey'>;
  readonly login?: LoginFile;
  readonly story?: AgentSpec;
  readonly session?: AcpSpec;
  /** The npm package of `session`, where it is another one. */
  readonly sessionPackage?: string;
}

const anthropicKey = { variable: 'ANTHROPIC_API_KEY', secret: 'ANTHROPIC_API_KEY' };
const codexKey = { variable: 'CODEX_API_KEY', secret: 'OPENAI_API_KEY', elsewhere: 'OPENAI_API_KEY' };
const geminiKey = { variable: 'GEMINI_API_KEY', secret: 'GEMINI_API_KEY' };
const anyKey = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];

/** Codex takes a base URL for a provider only. */
function codexProvider(base: string, key: string): string[] {
  return [
    ...['-c', 'model_provider="carrel"', '-c', 'model_providers.carrel.name="OpenAI"'],
    ...['-c', `model_providers.carrel.base_url="{${base}}"`],
    ...['-c', `model_providers.carrel.env_key="${key}"`],
    ...['-c', 'model_providers.carrel.wire_api="responses"'],
  ];
}

/** By ACP: without a terminal its own mode refuses the base URL that a credential gives. */
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
          secret: 'CLAUDE_CODE_OAUTH_TOKEN',
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
      key: codexKey,
      // Of two the last one counts: a key, before the login of ChatGPT.
      options: [
        ['-c', 'projects."/workspace".trust_level="trusted"'],
        codexProvider('CHATGPT_BASE_URL', 'CHATGPT_ACCESS_TOKEN'),
        codexProvider('OPENAI_BASE_URL', 'OPENAI_API_KEY'),
      ],
    },
    login: {
      file: '.codex/auth.json',
      folderVariable: 'CODEX_HOME',
      kinds: [
        // With an account it may keep a key beside, which it does not use then.
        {
          value: ['OPENAI_API_KEY'],
          secret: 'OPENAI_API_KEY',
          unless: { path: ['auth_mode'], is: 'chatgpt' },
        },
        {
          value: ['tokens', 'access_token'],
          secret: 'CHATGPT_ACCESS_TOKEN',
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
      key: geminiKey,
      files: [
        {
          path: '.gemini/settings.json',
          set: { security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } } },
          defaults: { general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } },
        },
        // Of an account instead of a key.
        { path: '.gemini/settings.json', set: { security: { auth: { selectedType: '{GEMINI_DEFAULT_AUTH_TYPE}' } } } },
      ],
    },
    login: {
      file: '.gemini/oauth_creds.json',
      kinds: [
        {
          value: ['access_token'],
          secret: 'GEMINI_ACCESS_TOKEN',
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
        // As installed: otherwise it draws nothing before npm has failed to fetch the types of plugins.
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
  /** Has no model: it works on the stories of `carrel demo`, and in a session does what the prompt says, in a few words that it knows. */
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
