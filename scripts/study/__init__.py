"""Parts of scripts/validity.py: does the structure of attention predict what the loss needs?"""
