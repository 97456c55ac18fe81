import type { SampledSdk } from '#core/web/pages/code-samples.ts';
import type { Texts } from '#core/web/texts/texts.ts';

/** A value of a settings file that JSON, TOML and YAML can all express. */
export type SettingValue = string | number | boolean | readonly SettingValue[] | SettingTree;
export interface SettingTree {
  readonly [name: string]: SettingValue;
}

/** Where a file is; `~` is the home folder. */
export interface FilePlace {
  readonly path: string;
  /** A file that the tool reads instead of `path`, or that overrides it. If this file exists, settings belong in it. */
  readonly preferred?: string;
  readonly macos?: string; // if it is different
  readonly windows?: string; // if it is not the same path below `%USERPROFILE%`
}

export type SettingsFormat = 'json' | 'toml' | 'yaml';

/** Settings for a file of the tool. */
export interface FileStep {
  readonly kind: 'file';
  readonly place: FilePlace;
  readonly format: SettingsFormat;
  readonly settings: SettingTree | readonly SettingValue[];
  /** True if the file contains nothing else, so that it is created and removed as a whole. Otherwise, its other settings are kept. */
  readonly isDedicated?: boolean;
  /**
   * Members that identify an entry of a list, as far as the entry has them, so that it is added to the list or replaced. Without them, a
   * list is replaced as a whole.
   */
  readonly identity?: readonly string[];
  /** Members that are written only if the file lacks them. In JSON, paths such as `a.b`. */
  readonly initial?: readonly string[];
  /** Other JSON files that the tool reads, or folders of them (`/etc/tool/`). Initial members that exist there are omitted. */
  readonly elsewhere?: readonly FilePlace[];
  /** Set unless the tool's JSON allows both comments and trailing commas: `plain` allows neither, `comments` only comments. */
  readonly dialect?: 'plain' | 'comments';
  /** Position of new entries in a list. `start` is for tools that use the first entry as the default. */
  readonly at?: 'start';
}

/** Shell variables. The shell asks for the value of the variable named by `key`, without echo. */
export interface EnvironmentStep {
  readonly kind: 'environment';
  readonly variables?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** A word of a command: a text, which is quoted if necessary, or the value of a variable. */
export type Word = string | { readonly variable: string };

/** Commands to run once, or lines of a file in shell syntax. */
export interface CommandStep {
  readonly kind: 'command';
  readonly commands: readonly (readonly Word[])[];
  readonly place?: FilePlace; // set if the commands are lines of this file
}

/** Values for a form, for tools that cannot be set up in any other way. */
export interface FormStep {
  readonly kind: 'form';
  readonly where: string; // where to find the form, in the tool's own words
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

/** Programs to start from, with or without an official SDK. */
export type SampleStep = { readonly kind: 'sample' } & (
  | { readonly sdk: SampledSdk; readonly samples?: undefined }
  | { readonly sdk?: undefined; readonly samples: readonly CodeSample[] }
);

export interface CodeSample {
  readonly title: string; // language (Python, TypeScript), or format
  readonly install?: string; // command that installs the imported packages
  readonly code: string;
}

/** Lines that the script writes: a marked block in a file with other lines (`block`), or a whole file (`text`). */
export interface LinesStep {
  readonly kind: 'lines';
  readonly place: FilePlace;
  readonly format: 'block' | 'text';
  readonly lines: readonly string[];
}

/** A step that the script can perform without a person. */
export type ScriptedStep = FileStep | EnvironmentStep | CommandStep | LinesStep;

/** A variable that moves a folder of the tool: its value replaces `folder`, which may differ between systems, in paths. */
interface MovedFolder {
  readonly variable: string;
  readonly folder: string;
}

/** How the script finds and sets up a tool. `~/.config` stands for the folder in XDG_CONFIG_HOME. */
export interface ToolScript {
  /** Programs of the tool. The tool is installed if one of them is on PATH. */
  readonly commands: readonly string[];
  /** Folders that the tool creates. The tool is also installed if one of them exists. They must not contain spaces. */
  readonly folders: readonly string[];
  readonly isOnRequest?: true; // set up only when it is asked for by name
  readonly places?: readonly MovedFolder[];
  /** Files in which the tool caches data from the gateway. An undo removes those that contain the gateway's address. */
  readonly caches?: readonly FilePlace[];
  /** Steps for the script, if the page's steps need a person. A command without `place` starts the tool. */
  readonly steps?: readonly ScriptedStep[];
  /** Arguments that make the tool answer `<prompt>` without a terminal, so that the script can test it. */
  readonly trial?: readonly string[];
  readonly note?: string; // an English sentence to show once the tool is set up
}

/** One step. `note` is the text key of a sentence below it. */
export type Step = (FileStep | EnvironmentStep | CommandStep | FormStep | SampleStep) & { readonly note?: string };

/** How `npm run test:tools` installs a tool and gives it a task, in addition to `trial`. */
export interface ToolPackage {
  readonly package: string;
  /** Date of the last run with the version in `seen`. */
  readonly tried: string; // YYYY-MM-DD
  /** True if the tool's models cannot run commands. It then gets no task, and only `--verify` tests it. */
  readonly takesNoTask?: true;
  /** Folder below the home folder in which the tool's models run commands, if it is not the current one. */
  readonly workspace?: string;
  /** Options that let a model run commands without confirmation. */
  readonly allow?: readonly string[];
  /** Variables that keep the tool from contacting hosts other than the gateway, which tests cannot reach. */
  readonly offline?: Readonly<Record<string, string>>;
  /** Patterns for transcripts and logs in the home folder that contain the gateway's address but must not be changed by the script. */
  readonly keeps?: readonly string[];
}

/** A row of tools.yaml: a tool that can be set up for this gateway. Steps, trial and note are templates. */
export interface SetupTool {
  readonly id: string; // used in the page's URL and in the script's option `--tools`
  readonly name: string;
  readonly nameText?: string; // text key of the name, if it is translated
  readonly group: 'agents' | 'editors' | 'libraries';
  /** Formats that the tool speaks with these settings, as gateway.yaml names them. Models are chosen for the first one. */
  readonly formats: readonly [string, ...string[]];
  /** Version with which these settings were tested, '' for several; undefined if they are based only on documentation or source code. */
  readonly seen?: string;
  /** Set if the tool is a command-line package on npm; `pypi` if it is on PyPI. */
  readonly npm?: ToolPackage;
  readonly pypi?: ToolPackage;
  readonly script?: ToolScript; // set if the script can set up the tool completely
  readonly steps: readonly Step[]; // in the order of the page
  /** Prerequisites and warnings. `{provider}` is the gateway's name in the tool's settings. */
  readonly note?: Readonly<Record<keyof Texts, string>>;
  readonly texts?: Texts; // for the other text keys of the tool
}

export type ScriptedTool = SetupTool & { readonly script: ToolScript };
