// Reading the section `loopgrad` of the settings.

import { homedir } from 'node:os';

import { type ConfigurationScope, type Uri, workspace, type WorkspaceFolder } from 'vscode';

import { anchored, substituteCommand, type Variables } from './variables';

export const SECTION = 'loopgrad';

/** Settings that say what runs as the server: when one changes, it is resolved anew. */
export const SERVER_SETTINGS = ['interpreter', 'path', 'importStrategy'].map((name) => `${SECTION}.${name}`);

export function setting<T>(name: string, fallback: T, scope?: ConfigurationScope): T {
  return workspace.getConfiguration(SECTION, scope ?? null).get<T>(name, fallback);
}

/** A setting that is a list of strings; what else is in it is left out. */
export function strings(name: string, scope?: ConfigurationScope): string[] {
  const value = setting<unknown>(name, [], scope);
  return Array.isArray(value) ? value.filter((part): part is string => typeof part === 'string') : [];
}

/** What variables stand for in the settings of a resource; without one, of the first folder. */
export function variables(resource?: Uri, interpreter?: readonly string[]): Variables {
  const folder = folderOf(resource);
  const all = (workspace.workspaceFolders ?? []).map((each) => [each.name, each.uri.fsPath] as const);
  return {
    workspaceFolder: folder?.uri.fsPath,
    folders: new Map(all),
    userHome: homedir(),
    environment: process.env,
    interpreter,
  };
}

export function folderOf(resource?: Uri): WorkspaceFolder | undefined {
  return (resource && workspace.getWorkspaceFolder(resource)) ?? workspace.workspaceFolders?.[0];
}

/** `loopgrad.interpreter` with its variables replaced; empty where it is not set. */
export function interpreterSetting(resource?: Uri): string[] {
  return commandOf(strings('interpreter', resource ?? folderOf()), variables(resource));
}

/** A command as a setting has it, ready to be run. */
export function commandOf(written: readonly string[], values: Variables): string[] {
  return anchored(substituteCommand(written, values), values.workspaceFolder);
}

/** Paths of the folders on this machine. */
export function folderPaths(): string[] {
  return (workspace.workspaceFolders ?? []).filter((each) => each.uri.scheme === 'file').map((each) => each.uri.fsPath);
}
