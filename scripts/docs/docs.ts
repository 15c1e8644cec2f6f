/** The pages of docs/ that are made from code, by file name. */
import { apiPage } from './api-page.ts';
import { cliPage } from './cli-page.ts';
import { decisionsPage } from './decisions-page.ts';
import { carrelYamlPage, configPage } from './settings-page.ts';

export const pages: Readonly<Record<string, () => string>> = {
  'config.md': configPage,
  'carrel-yaml.md': carrelYamlPage,
  'cli.md': cliPage,
  'api.md': apiPage,
  'decisions/README.md': decisionsPage,
};
