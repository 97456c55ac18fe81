import type { Texts } from '#core/web/texts/texts.ts';
import type { SetupModel, SetupValues } from './values.ts';

/** A value of a settings file: what JSON, TOML and YAML can all hold. */
export type SettingValue = string | number | boolean | readonly SettingValue[] | SettingTree;
export interface SettingTree {
  readonly [name: string]: SettingValue;
}

/** Where a file is, with `~` for the home folder. */
export interface FilePlace {
  readonly path: string;
  /** A file that the tool reads instead of `path`, or that overrides it: where it exists, settings belong there. */
  readonly preferred?: string;
  /** Where the path differs on macOS. */
  readonly macos?: string;
  /** Where it is not the same path below `%USERPROFILE%` on Windows. */
  readonly windows?: string;
}

export type SettingsFormat = 'json' | 'toml' | 'yaml';

/** Settings that belong into a file of the tool. */
export interface FileStep {
  readonly kind: 'file';
  readonly place: FilePlace;
  readonly format: SettingsFormat;
  readonly settings: SettingTree | readonly SettingValue[];
  /** True for a file that holds nothing else: it is made, and removed again. Otherwise other settings in it stay. */
  readonly isOwn?: boolean;
  /**
   * Members by which an entry of a list is recognised, those of them that it has, so that it is added to the list or replaced;
   * otherwise a list is a value.
   */
  readonly identity?: readonly string[];
  /** Members that are only for files without them: where one has them, they stay as they are. In JSON, paths: `a.b`. */
  readonly initial?: readonly string[];
  /** Files of JSON that the tool reads as well, or folders of them (`/etc/tool/`): initial members that one has are left out. */
  readonly elsewhere?: readonly FilePlace[];
  /** The JSON that the tool reads, where that is less than comments and trailing commas: neither, or comments only. */
  readonly dialect?: 'plain' | 'comments';
  /** The place of new entries of a list. Tools that take the first entry as default get theirs at the start. */
  readonly at?: 'start';
}

/** Variables of the shell. The shell asks for the value of the one named by `key`, without an echo. */
export interface EnvironmentStep {
  readonly kind: 'environment';
  readonly variables?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** A word of a command: a text, quoted as needed, or the value of a variable. */
export type Word = string | { readonly variable: string };

/** Commands that are run once, or lines of a file in the shell's syntax. */
export interface CommandStep {
  readonly kind: 'command';
  readonly commands: readonly (readonly Word[])[];
  /** Set for a file of such lines. */
  readonly place?: FilePlace;
}

/** Values for a form, for tools that cannot be set up otherwise. */
export interface FormStep {
  readonly kind: 'form';
  /** The way to the form, in the words of the tool. */
  readonly where: string;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

/** Code to start from. */
export interface SampleStep {
  readonly kind: 'sample';
  readonly samples: readonly CodeSample[];
}

export interface CodeSample {
  /** Language: Python, TypeScript. */
  readonly title: string;
  /** Command that installs what the code imports. */
  readonly install: string;
  readonly code: string;
}

/** Lines that a script writes: between markers in a file that may hold others (`block`), or all of a file (`text`). */
export interface LinesStep {
  readonly kind: 'lines';
  readonly place: FilePlace;
  readonly format: 'block' | 'text';
  readonly lines: readonly string[];
}

/** A step that a script can do without a person. */
export type ScriptedStep = FileStep | EnvironmentStep | CommandStep | LinesStep;

/** A variable that moves a folder of the tool, which may differ between systems: what would be below `folder` is below its value. */
interface MovedFolder {
  readonly variable: string;
  readonly folder: string;
}

/** Values for the words of a trial. */
type TrialValues = Pick<SetupValues, 'providerId'> & { readonly model: Pick<SetupModel, 'name'> };

/** How the script finds a tool on a machine and sets it up. `~/.config` means the folder that XDG_CONFIG_HOME names. */
export interface ToolScript {
  /** Its programs: one of them on PATH means that the tool is installed. */
  readonly commands: readonly string[];
  /** Folders that it creates: one of them means the same. Without spaces. */
  readonly folders: readonly string[];
  /** True for what is set up only when it is named. */
  readonly isOnRequest?: true;
  readonly places?: readonly MovedFolder[];
  /** Files in which the tool keeps what it has asked the gateway: an undo removes those that name the gateway. */
  readonly caches?: readonly FilePlace[];
  /** The steps of the script where those of the page suit only people. A command without a place is how the tool is started. */
  steps?(values: SetupValues): readonly ScriptedStep[];
  /** The words behind its command with which it answers a prompt without a terminal: the script tries it with them. */
  trial?(prompt: string, values: TrialValues): readonly string[];
  /** An English sentence about what to know once the tool is set up. */
  note?(values: SetupValues): string;
}

/** One thing to do. `note` is the key of a sentence below it. */
export type Step = (FileStep | EnvironmentStep | CommandStep | FormStep | SampleStep) & { readonly note?: string };

/** How `npm run test:tools` installs a tool and gives it a task, beside `trial`. */
export interface ToolPackage {
  readonly package: string;
  /** The day of the last run with the version in `seen`. */
  readonly tried: string; // YYYY-MM-DD
  /** True where its models run no commands: it gets no task, and `--verify` alone tries it. */
  readonly takesNoTask?: true;
  /** Folder of the home folder in which its models run commands, where that is not the one in which it is started. */
  readonly workspace?: string;
  /** Options with which it runs the commands of a model without asking. */
  readonly allow?: readonly string[];
  /** Variables that keep it from asking hosts beside the gateway, which tests cannot reach. */
  readonly offline?: Readonly<Record<string, string>>;
  /** Paths in the home folder of its transcripts and logs, which have the gateway's address and are not the script's to change. */
  readonly keeps?: readonly RegExp[];
}

/** A tool that can be set up for this gateway. A file in tools/ is all that it needs. */
export interface SetupTool {
  /** Name in the page's URL and in `--tools` of the script. */
  readonly id: string;
  readonly name: string;
  /** Key of its name, for what is not called the same in every language. */
  readonly nameText?: string;
  readonly group: 'agents' | 'editors' | 'libraries';
  /** Ascending, within its group; those without one follow by name. */
  readonly order?: number;
  /** Formats that these settings make it speak, by their names in gateway.yaml. Models are chosen for the first one. */
  readonly formats: readonly [string, ...string[]];
  /**
   * The version that was seen to work with these settings, '' for several; undefined where only its documentation or source
   * says so.
   */
  readonly seen?: string;
  /** Set where the tool is a package on npm with a command line; `pypi` for one on PyPI. */
  readonly npm?: ToolPackage;
  readonly pypi?: ToolPackage;
  /** Set where a script can do all of it. */
  readonly script?: ToolScript;
  /** The steps of the page, in order. */
  steps(values: SetupValues): readonly Step[];
  /** What to know beforehand. `{provider}` is the gateway's name in its settings. */
  readonly note?: Readonly<Record<keyof Texts, string>>;
  /** The texts of the other keys that it names. */
  readonly texts?: Texts;
}

/** A tool that the scripts set up. */
export type ScriptedTool = SetupTool & { readonly script: ToolScript };
