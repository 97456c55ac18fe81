/** One thing that the script does for a tool. Texts hold placeholders such as `@KEY@`, which the script fills in. */
export type ScriptAction =
  /** When the variable is set, paths below the folder are below its value instead. */
  | { readonly kind: 'place'; readonly variable: string; readonly folder: string }
  | FileAction
  /** A variable of the user's shell. */
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  /** A sentence that is shown once the tool is set up. */
  | { readonly kind: 'note'; readonly text: string };

/** Settings or lines that a file gets. */
export interface FileAction {
  readonly kind: 'file';
  /** `block`: lines between markers, with `#` as the comment sign. `text`: the whole file. */
  readonly format: 'json' | 'toml' | 'yaml' | 'block' | 'text';
  /** `~` is the home folder, `~/.config` what XDG_CONFIG_HOME names. `a|b`: the first that exists, or else the last. */
  readonly path: string;
  readonly macos?: string;
  readonly windows?: string;
  readonly text: string;
  /** Members by which an entry of a list of objects is recognised. */
  readonly identity?: readonly string[];
  /** Members at the root that stay as they are where the file has them. */
  readonly initial?: readonly string[];
  /** New entries of a list go to its start instead of its end. */
  readonly at?: 'start';
}
