/** The capabilities that this client reports in `initialize`. */
import type { ClientCapabilities } from 'vscode-languageserver-protocol';

const contentFormat = ['markdown' as const, 'plaintext' as const];
const linkSupport = { dynamicRegistration: true, linkSupport: true };

export const clientCapabilities: ClientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    didChangeConfiguration: { dynamicRegistration: true },
    didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
    symbol: {},
    diagnostics: { refreshSupport: true },
    workspaceEdit: { documentChanges: true, resourceOperations: ['create', 'rename', 'delete'] },
    fileOperations: { willRename: true, didRename: true },
  },
  textDocument: {
    synchronization: { didSave: true },
    definition: linkSupport,
    implementation: linkSupport,
    typeDefinition: linkSupport,
    references: {},
    hover: { contentFormat },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    signatureHelp: { signatureInformation: { documentationFormat: contentFormat, activeParameterSupport: true } },
    completion: { completionItem: { documentationFormat: contentFormat, snippetSupport: false } },
    callHierarchy: {},
    publishDiagnostics: { versionSupport: true },
    diagnostic: { relatedDocumentSupport: false },
    rename: { prepareSupport: true },
    formatting: {},
    codeAction: {
      dataSupport: true,
      resolveSupport: { properties: ['edit'] },
      codeActionLiteralSupport: {
        codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source', 'source.organizeImports'] },
      },
    },
  },
  // With it, rust-analyzer reports when it has loaded the project.
  experimental: { serverStatusNotification: true },
};
