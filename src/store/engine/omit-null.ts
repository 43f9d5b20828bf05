type Present<Columns> = { [Name in keyof Columns]?: Exclude<Columns[Name], null> };

/** Leaves out the columns that are NULL: the domain's optional fields are absent, never null. */
export function keepPresent<Columns extends Record<string, unknown>>(columns: Columns): Present<Columns> {
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== null),
  ) as Present<Columns>;
}
