// The forms of what is sent that generated types are made of.

/** An instant, RFC 3339 in UTC, such as `2026-11-21T14:35:00Z`. */
export type Timestamp = string;

/** The names that values of this type may have, whichever of a union they are. */
type NamesOf<T> = T extends unknown ? Extract<keyof T, string> : never;

/**
 * What an update changes: names of fields, as a list or joined by commas. A field that is named and left out
 * is cleared.
 */
export type FieldMask<T> = readonly NamesOf<T>[] | string;

/** A resource that is replaced: everything that a new one must have, and which one it is. */
export type Whole<T> = T & { id: string };

/** The same of a resource with fields that cannot be changed: they may be left out. */
export type WholeBut<T, Fixed extends keyof T> = Omit<T, Fixed> & {
  [Name in Fixed]?: T[Name] | undefined;
} & {
  id: string;
};

/** The parts of a resource that a mask names, and which one it is. */
export type Part<T> = { [Name in keyof T]?: T[Name] | undefined } & { id: string };
