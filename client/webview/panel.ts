// The panel's own script.
export {};
