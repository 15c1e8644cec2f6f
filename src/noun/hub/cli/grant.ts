/** Parses `--project` and `--tools`: the projects and groups of tools that an MCP client may use. */

import { naming } from '../../../client/option.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { checkProjectId } from '../../project/model/project.ts';
import { type ProjectGrant, type ToolGroup, toolGroups } from '../model/token.ts';

export function parseProjects(text: string): ProjectGrant {
  return text === '*' ? text : naming('--project', () => words(text).map(checkProjectId));
}

export function parseGroups(text: string): ToolGroup[] {
  return words(text).map((word) => toolGroups.find((group) => group === word) ?? unknownGroup(word));
}

function unknownGroup(word: string): never {
  throw new Fault('invalid', `--tools: there is no group ${printable(word)}`, {
    hint: `Groups: ${toolGroups.join(', ')}`,
  });
}

function words(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}
