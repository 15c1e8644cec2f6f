/** A carrel.yaml to begin with. The same folder always gives the same text. */
import type { FoundProject, Survey } from './survey.ts';

export const schemaFolder = '.carrel';
export const schemaName = 'carrel.schema.json';

export function draft({ name, projects }: Survey): string {
  return [
    `# yaml-language-server: $schema=${schemaFolder}/${schemaName}`,
    '#',
    '# A fleet. `carrel up` makes this machine match it, `carrel up --dry-run` shows the steps, and',
    '# `carrel compose` renders it as a docker-compose.yml.',
    '',
    '# The name of the fleet: carrel up changes only sandboxes of this fleet.',
    `name: ${word(name)}`,
    '',
    '# For every sandbox that does not say otherwise.',
    '# engine: local',
    '# limits: {cpus: 2, memory: 4g, pids: 512}',
    '',
    '# Volumes of yours that outlive sandboxes: memory-bank, tmux-sockets, coordinator-state, session.',
    '# volumes: [memory-bank]',
    '',
    '# Names of secrets, never values. Set each with: carrel secret set NAME',
    '# secrets: [API_KEY]',
    '',
    ...(projects.length === 0 ? withoutProjects : withProjects(projects)),
    '',
  ].join('\n');
}

const withoutProjects = [
  '# No project was found here. Folders by id:',
  '# projects:',
  '#   app: ./app',
  '',
  '# Without a command a sandbox idles until stopped; carrel shell NAME opens a shell in it.',
  'sandboxes:',
  '  desk:',
  '    # project: app',
  '    # command: [npm, test]',
  '    # secrets: [API_KEY]',
  '    # volumes: ["memory-bank:/data/memory-bank"]',
];

function withProjects(projects: readonly FoundProject[]): string[] {
  return [
    '# Folders by id.',
    'projects:',
    ...projects.map(({ id, path, traits }) => `  ${word(id)}: ${word(path)} # ${traits.join(', ')}`),
    '',
    '# Each works on a copy of its project; carrel diff NAME and carrel apply NAME bring changes back. Without a command a',
    '# sandbox idles until stopped; carrel shell NAME opens a shell in it.',
    'sandboxes:',
    ...projects.flatMap(({ id }, index) => [
      `  ${word(id)}:`,
      `    project: ${word(id)}`,
      ...(index > 0 ? [] : examples),
    ]),
  ];
}

const examples = [
  '    # command: [npm, test]',
  '    # secrets: [API_KEY]',
  '    # volumes: ["memory-bank:/data/memory-bank"]',
];

/** A scalar that every YAML parser reads as text: a plain word without another meaning, else a JSON string. */
function word(text: string): string {
  const plain = /^(\.|(\.\/)?[a-z][a-z0-9_./-]*)$/i.test(text) && !/^(null|true|false|yes|no|on|off|y|n)$/i.test(text);
  return plain ? text : JSON.stringify(text);
}
