"""The three dashboards, said in few words; `tools/dashboards_json.py` makes the JSON files of them."""
