// The building blocks of generated request types.

/** An RFC 3339 instant in UTC, such as `2026-11-21T14:35:00Z`. */
export type Timestamp = string;

/** The field names of this type, over all members of a union. */
type NamesOf<T> = T extends unknown ? Extract<keyof T, string> : never;

/**
 * The fields that an update changes: names as a list or separated by commas. A named field that is omitted is
 * cleared.
 */
export type FieldMask<T> = readonly NamesOf<T>[] | string;

/** A resource to replace: everything that a new one requires, and its ID. */
export type Whole<T> = T & { id: string };

/** The same for a resource with fixed fields, which may be omitted. */
export type WholeBut<T, Fixed extends keyof T> = Omit<T, Fixed> & {
  [Name in Fixed]?: T[Name] | undefined;
} & {
  id: string;
};

/** The fields of a resource that a mask names, and its ID. */
export type Part<T> = { [Name in keyof T]?: T[Name] | undefined } & { id: string };
